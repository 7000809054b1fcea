// Makes the command lines of a job's processes.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_PROCESSES_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_PROCESSES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/launcher/certificates.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/job_options.h"
#include "tests/testbed/launcher/made_up_kernel.h"

namespace rapideye::testbed {

// The program that coordinates, and additions to its environment.
struct CoordinatorProgram {
  std::string name = "rapideye-coordinator";
  std::map<std::string, std::string> environment;
};

// All options below come without on_line.
// The made-up kernel of a worker's host, if there is one.
MadeUpKernel KernelOf(const JobOptions& options, WorkerId worker);

ChildProcess::Options CoordinatorProcess(const JobOptions& options,
                                         const CoordinatorProgram& program,
                                         const std::string& address);
// `runtime_port` 0: a free one. `attempt` counts the restarts of the job.
ChildProcess::Options WorkerProcess(const JobOptions& options, WorkerId worker, int runtime_port);
ChildProcess::Options AgentProcess(const JobOptions& options, WorkerId worker,
                                   const std::string& coordinator, const std::string& runtime,
                                   int attempt);

// Both in one: the agent starts the worker. `runtime_port` is not 0.
ChildProcess::Options ExecProcess(const JobOptions& options, WorkerId worker,
                                  const std::string& coordinator, int runtime_port, int attempt);

// Names in the certificates of the job's agents.
std::vector<AgentNames> NamesOfAgents(const JobOptions& options);

std::string LogDirectory(const JobOptions& options);
// The log of "coordinator", "worker-0-1", "agent-0-1".
std::string LogPath(const JobOptions& options, absl::string_view process);

// An address for the coordinator of one more job of this process: no other job on
// this machine has it, so that it can be taken again after a restart.
std::string NewCoordinatorAddress(const JobOptions& options);

// Where a worker finds another one's mesh, without the port.
std::string MeshAddressOf(const JobOptions& options, WorkerId worker, WorkerId peer);

// A port that nobody has at this address just now; UNAVAILABLE if there is none.
absl::StatusOr<int> FreePort(const std::string& address);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_PROCESSES_H_

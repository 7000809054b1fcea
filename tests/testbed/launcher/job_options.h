// JobOptions describes a testbed job.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_OPTIONS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_OPTIONS_H_

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

struct JobOptions {
  std::string name = "testbed";
  JobShape shape;
  int programs = 1;
  bool offload = false;  // part of each program runs on SparseCores
  int seed = 1;
  absl::Duration step_time = absl::Milliseconds(100);
  bool pipeline = false;  // each slice is a stage with its own modules
  // After so long without a completed launch the runtimes of all workers abort
  // their processes; zero: never.
  absl::Duration abort_on_hang;
  bool hlo_dumps = true;  // the processes dump their programs, and the agents may read that
  // Address at which the coordinator serves its pages.
  std::string http = "127.0.0.1:0";
  // After so much compute time all workers launch nothing for a while, as for a
  // checkpoint; zero: never.
  absl::Duration pause_every;
  absl::Duration pause;
  absl::Duration poll_interval = absl::Seconds(1);
  // Thresholds of the coordinator; absent: it finds its own.
  std::optional<absl::Duration> launch_threshold = absl::Seconds(4);
  std::optional<absl::Duration> hang_threshold = absl::Seconds(8);
  std::string program_dir;  // holds testbed-worker, rapideye-agent, rapideye-coordinator
  std::string state_dir;    // the coordinator's; exists; logs go to <state_dir>/logs
  bool daemons = true;      // false: workers alone
  std::vector<std::string> coordinator_flags;  // more of them
  // The agents share the workers' pods: they restart with the job, and the platform
  // tells them the number of the attempt. Otherwise they stay, and see the job restart.
  bool agents_in_pods = false;
  // The job's first attempt, or the restart of one that ran before this.
  int attempt = 0;
  // Each agent starts its worker itself (rapideye-agent exec); the daemons are on.
  bool agents_start_workers = false;
  // Each host has TPUs as its kernel shows them, made up of files (MadeUpKernel).
  bool made_up_kernels = false;
  // The training loops write progress pages, and the agents read them.
  bool progress_pages = false;
  // The agents look for the runtimes at an address where none listens, as if there were none.
  bool hidden_runtimes = false;
  // Reading a batch takes longer than a step, and the input pipelines say so on pages
  // for Prometheus, which the agents read.
  bool slow_input = false;
  // The daemons speak mutual TLS, with certificates made for this job.
  bool tls = false;
  // With tls: what agents say of their machines is beyond the job's reach.
  bool trusted_agents = false;
  // With tls: agents whose certificate another authority has signed.
  std::set<WorkerId> foreign_agents;
  // Each worker has a host with networks of its own (host_networks.h). Needs root.
  bool own_networks = false;
  // Every wait ends with CANCELLED once this becomes true.
  const std::atomic<bool>* interrupted = nullptr;
};

// Thresholds of the coordinator; if it finds them itself, the values that they
// have for launches of the testbed's length.
absl::Duration LaunchThreshold(const JobOptions& options);
absl::Duration HangThreshold(const JobOptions& options);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_OPTIONS_H_

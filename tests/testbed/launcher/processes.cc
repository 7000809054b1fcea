#include "tests/testbed/launcher/processes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/launcher/certificates.h"
#include "tests/testbed/launcher/host_networks.h"

namespace rapideye::testbed {
namespace {

// The least values of the coordinator's "auto". The testbed's launches are far too
// short for a higher launch threshold; three times the longest pause may make the hang
// threshold higher.
constexpr absl::Duration kAutoLaunchThreshold = absl::Seconds(10);
constexpr absl::Duration kAutoHangThreshold = absl::Minutes(5);
constexpr int kAutoPauseFactor = 3;

// Loopback networks 127.78 to 127.127 hold the coordinators, one network for each
// job of a process; the workers' is 127.77.
constexpr char kNobody[] = "127.0.0.1:1";  // a port that is never given out
constexpr int kFirstLoopbackNetwork = 78;
constexpr int kNetworks = 50;
constexpr int kCoordinatorPort = 8490;

// Time to read a batch where reading is slow, in steps.
constexpr double kSlowInput = 1.5;

std::string ThresholdFlag(std::optional<absl::Duration> threshold) {
  return threshold.has_value() ? absl::FormatDuration(*threshold) : "auto";
}

std::string PathOf(const JobOptions& options, absl::string_view name) {
  return absl::StrCat(options.program_dir, "/", name);
}

std::string NameOf(absl::string_view kind, WorkerId worker) {
  return absl::StrCat(kind, "-", worker.slice, "-", worker.task);
}

// Leaves the flag out without dumps: no value of it says "nowhere".
void AddDumps(const JobOptions& options, WorkerId worker, std::vector<std::string>& command) {
  if (!options.hlo_dumps) return;
  command.push_back(absl::StrCat("--hlo-dump-dir=", options.state_dir, "/", NameOf("hlo", worker)));
}

// Agent and worker get the same variable, as both containers of a pod do.
void AddProgressPage(const JobOptions& options, WorkerId worker, ChildProcess::Options& process) {
  if (!options.progress_pages) return;
  process.environment["RAPIDEYE_PROGRESS_PAGE"] =
      absl::StrCat(LogDirectory(options), "/", NameOf("progress", worker));
}

// Tells an agent how to recognise other workers by their addresses.
void AddNetwork(const JobOptions& options, std::vector<std::string>& command) {
  if (!options.own_networks) {
    command.push_back(absl::StrCat("--peer-address-template=", kWorkerAddressTemplate));
    return;
  }
  for (WorkerId peer : AllWorkers(options.shape)) {
    for (const std::string& nic : HostNetworks::Nics()) {
      command.push_back(absl::StrCat("--peer=", peer.slice, "/", peer.task, "=",
                                     HostNetworks::Address(peer, nic)));
    }
  }
  command.push_back("--insecure");
}

void AddTls(const TlsFiles& files, std::vector<std::string>& command) {
  command.push_back(absl::StrCat("--tls-cert=", files.cert));
  command.push_back(absl::StrCat("--tls-key=", files.key));
  command.push_back(absl::StrCat("--tls-ca=", files.ca));
}

}  // namespace

absl::Duration LaunchThreshold(const JobOptions& options) {
  return options.launch_threshold.value_or(kAutoLaunchThreshold);
}

absl::Duration HangThreshold(const JobOptions& options) {
  return options.hang_threshold.value_or(
      std::max(kAutoHangThreshold, kAutoPauseFactor * options.pause));
}

std::string LogDirectory(const JobOptions& options) { return options.state_dir + "/logs"; }

std::string LogPath(const JobOptions& options, absl::string_view process) {
  return absl::StrCat(LogDirectory(options), "/", process, ".log");
}

std::string MeshAddressOf(const JobOptions& options, WorkerId worker, WorkerId peer) {
  if (!options.own_networks) return WorkerAddress(peer);
  const bool same_slice = worker.slice == peer.slice;
  return HostNetworks::Address(peer, same_slice ? kSliceNic : CrossSliceNic(peer));
}

std::string NewCoordinatorAddress(const JobOptions& options) {
  if (options.own_networks) {
    return absl::StrCat(HostNetworks::CoordinatorAddress(), ":", kCoordinatorPort);
  }
  static std::atomic<int> jobs = 0;
  const int pid = getpid();
  return absl::StrCat("127.", kFirstLoopbackNetwork + jobs++ % kNetworks, ".", pid / 256 % 256, ".",
                      pid % 256, ":", kCoordinatorPort);
}

MadeUpKernel KernelOf(const JobOptions& options, WorkerId worker) {
  return MadeUpKernel(
      absl::StrCat(options.state_dir, "/", NameOf("kernel", MachineOf(options.shape, worker))));
}

std::vector<AgentNames> NamesOfAgents(const JobOptions& options) {
  std::vector<AgentNames> names;
  for (const WorkerId worker : AllWorkers(options.shape)) {
    const WorkerId machine = MachineOf(options.shape, worker);
    names.push_back({worker,
                     {absl::StrCat("rapideye://host/", HostOf(options.shape, worker)),
                      absl::StrCat("rapideye://node/", NameOf("node", machine)),
                      absl::StrCat("rapideye://hardware/", NameOf("machine", machine))}});
  }
  return names;
}

ChildProcess::Options CoordinatorProcess(const JobOptions& options,
                                         const CoordinatorProgram& program,
                                         const std::string& address) {
  ChildProcess::Options process = {
      .command = {PathOf(options, program.name), absl::StrCat("--listen=", address),
                  absl::StrCat("--job=", options.name),
                  absl::StrCat("--slices=", options.shape.slices),
                  absl::StrCat("--tasks-per-slice=", options.shape.tasks),
                  absl::StrCat("--state-dir=", options.state_dir),
                  absl::StrCat("--http=", options.http),
                  absl::StrCat("--launch-threshold=", ThresholdFlag(options.launch_threshold)),
                  absl::StrCat("--hang-threshold=", ThresholdFlag(options.hang_threshold))},
      .environment = program.environment,
      .log_path = LogPath(options, "coordinator"),
      .on_line = nullptr};
  if (options.tls) {
    AddTls(CertificatesOf(options.state_dir, Issuer::kOwn), process.command);
    process.command.push_back(absl::StrCat("--agent-identity-template=", kAgentTemplate));
  }
  if (options.trusted_agents) {
    process.command.push_back(absl::StrCat("--direct-evidence-from=", kAgentPattern));
  }
  if (options.own_networks) process.command.push_back("--insecure");
  process.command.insert(process.command.end(), options.coordinator_flags.begin(),
                         options.coordinator_flags.end());
  return process;
}

ChildProcess::Options WorkerProcess(const JobOptions& options, WorkerId worker, int runtime_port) {
  const JobShape& shape = options.shape;
  ChildProcess::Options process = {
      .command = {PathOf(options, "testbed-worker"), absl::StrCat("--slice=", worker.slice),
                  absl::StrCat("--task=", worker.task), absl::StrCat("--slices=", shape.slices),
                  absl::StrCat("--tasks=", shape.tasks), absl::StrCat("--chips=", shape.chips),
                  absl::StrCat("--generation=", shape.generation.name),
                  absl::StrCat("--programs=", options.programs),
                  absl::StrCat("--offload=", options.offload ? "true" : "false"),
                  absl::StrCat("--pipeline=", options.pipeline ? "true" : "false"),
                  absl::StrCat("--abort-on-hang=", absl::FormatDuration(options.abort_on_hang)),
                  absl::StrCat("--pause-every=", absl::FormatDuration(options.pause_every)),
                  absl::StrCat("--pause=", absl::FormatDuration(options.pause)),
                  absl::StrCat("--seed=", options.seed),
                  absl::StrCat("--runtime-port=", runtime_port),
                  absl::StrCat("--step-time=", absl::FormatDuration(options.step_time))},
      .environment = {},
      .log_path = LogPath(options, NameOf("worker", worker)),
      .on_line = nullptr};
  AddDumps(options, worker, process.command);
  AddProgressPage(options, worker, process);
  if (options.slow_input) {
    process.command.push_back(
        absl::StrCat("--batch-time=", absl::FormatDuration(kSlowInput * options.step_time)));
  }
  if (options.own_networks) {
    // Peers reach the worker at different addresses: listen on all of them.
    process.command.push_back("--mesh-address=0.0.0.0");
  }
  return process;
}

ChildProcess::Options AgentProcess(const JobOptions& options, WorkerId worker,
                                   const std::string& coordinator, const std::string& runtime,
                                   int attempt) {
  const JobShape& shape = options.shape;
  std::vector<std::string> hosts;
  for (int task = 0; task < shape.tasks; ++task) {
    hosts.push_back(HostOf(shape, {worker.slice, task}));
  }
  const std::string machine = NameOf("machine", MachineOf(shape, worker));
  ChildProcess::Options process = {
      .command = {PathOf(options, "rapideye-agent"), absl::StrCat("--coordinator=", coordinator),
                  absl::StrCat("--job=", options.name),
                  absl::StrCat("--host=", HostOf(shape, worker)),
                  // All hosts share one machine, and must not look like it.
                  absl::StrCat("--hardware=", machine),
                  absl::StrCat("--runtime=", options.hidden_runtimes ? kNobody : runtime),
                  absl::StrCat("--log=", LogPath(options, NameOf("worker", worker))),
                  absl::StrCat("--poll-interval=", absl::FormatDuration(options.poll_interval)),
                  absl::StrCat("--state-dir=", options.state_dir, "/agents/", machine)},
      // The agent learns its worker's identity from the environment, as on a TPU host.
      .environment = {{"MEGASCALE_SLICE_ID", absl::StrCat(worker.slice)},
                      {"MEGASCALE_NUM_SLICES", absl::StrCat(shape.slices)},
                      {"TPU_WORKER_ID", absl::StrCat(worker.task)},
                      {"TPU_WORKER_HOSTNAMES", absl::StrJoin(hosts, ",")},
                      {"NODE_NAME", NameOf("node", MachineOf(shape, worker))}},
      .log_path = LogPath(options, NameOf("agent", worker)),
      .on_line = nullptr};
  AddDumps(options, worker, process.command);
  AddNetwork(options, process.command);
  if (options.made_up_kernels) {
    const MadeUpKernel kernel = KernelOf(options, worker);
    process.command.push_back(absl::StrCat("--sys-root=", kernel.sys()));
    process.command.push_back(absl::StrCat("--dev-root=", kernel.dev()));
  }
  AddProgressPage(options, worker, process);
  if (options.agents_in_pods) {
    process.environment["JOBSET_RESTART_ATTEMPT"] = absl::StrCat(attempt);
  }
  if (options.tls) {
    const bool foreign = options.foreign_agents.contains(worker);
    AddTls(foreign ? CertificatesOf(options.state_dir, Issuer::kForeign)
                   : CertificatesOf(options.state_dir, worker),
           process.command);
  }
  return process;
}

ChildProcess::Options ExecProcess(const JobOptions& options, WorkerId worker,
                                  const std::string& coordinator, int runtime_port, int attempt) {
  const std::string runtime = absl::StrCat(WorkerAddress(worker), ":", runtime_port);
  ChildProcess::Options process = AgentProcess(options, worker, coordinator, runtime, attempt);
  // The worker's output passes through the agent, which needs no log file then.
  std::erase_if(process.command, [](const auto& flag) { return flag.starts_with("--log="); });
  process.command.push_back(absl::StrCat("--exec-log=", process.log_path));
  process.command.insert(process.command.end(), {"exec", "--"});
  ChildProcess::Options started = WorkerProcess(options, worker, runtime_port);
  process.command.insert(process.command.end(), started.command.begin(), started.command.end());
  process.log_path = started.log_path;
  return process;
}

absl::StatusOr<int> FreePort(const std::string& address) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  socklen_t size = sizeof(place);
  const int tried = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool found = inet_pton(AF_INET, address.c_str(), &place.sin_addr) == 1 &&
                     bind(tried, reinterpret_cast<sockaddr*>(&place), size) == 0 &&
                     getsockname(tried, reinterpret_cast<sockaddr*>(&place), &size) == 0;
  close(tried);
  if (!found) return absl::UnavailableError(absl::StrCat("no free port at ", address));
  return ntohs(place.sin_port);
}

}  // namespace rapideye::testbed

// rapideye-agent: watches one training process and tells its coordinator.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/core/agent_core.h"
#include "agent/limits.h"
#include "agent/shell/agent.h"
#include "agent/shell/agent_metrics.h"
#include "agent/shell/host_watcher.h"
#include "agent/shell/once.h"
#include "agent/shell/state_file.h"
#include "agent/sources/identity/identity.h"
#include "proto/http/http_server.h"
#include "proto/metrics/metric_page.h"
#include "proto/program/command_line.h"
#include "proto/program/logging.h"
#include "proto/program/signals.h"
#include "proto/transport/credentials.h"

extern char** environ;

namespace rapideye::agent {
namespace {

struct Flags {
  IdentityFlags identity;
  HostOptions host;
  std::vector<std::string> logs;
  std::vector<std::string> peers;
  std::string peer_address_template;
  transport::CredentialOptions credentials;
  absl::Duration poll_interval = absl::Seconds(5);
  std::optional<int32_t> metrics_port;
  std::string metrics_address = "127.0.0.1";
  std::string state_dir = "/var/tmp/rapideye-agent";
  std::string log_format = "text";
  bool once = false;
};

void AddFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  IdentityFlags& identity = flags.identity;
  AddFlag(app, "job", identity.job, "name of the job (else JOBSET_NAME, TPU_NAME, SLURM_JOB_NAME)");
  AddFlag(app, "slice", identity.slice, "number of this slice (else MEGASCALE_SLICE_ID)");
  AddFlag(app, "task", identity.task,
          "number of this worker in its slice (else TPU_WORKER_ID, JOB_COMPLETION_INDEX)");
  AddFlag(app, "host", identity.host, "name of this host in the digest (else its host name)");
  AddFlag(app, "node", identity.node, "name of its node (else NODE_NAME, SLURMD_NODENAME)");
  AddFlag(app, "pod", identity.pod, "name of its pod (else POD_NAME)");
  AddFlag(app, "hardware", identity.hardware,
          "what identifies the machine itself: instance id, serial number");
  AddFlag(app, "coordinator", identity.coordinator,
          "HOST:PORT of rapideye-coordinator (else the host of MEGASCALE_COORDINATOR_ADDRESS, port "
          "8490)");
  AddFlag(app, "runtime", identity.runtime,
          "HOST:PORT of the TPU runtime's status service (else TPU_RUNTIME_METRICS_PORTS, "
          "localhost:8431)");
  AddFlag(app, "log", flags.logs, "PATH or GLOB of training log files to follow; may be repeated");
  AddFlag(app, "peer", flags.peers,
          "SLICE/TASK=ADDRESS of another worker, to know its connections by; may be repeated");
  AddFlag(app, "peer-address-template", flags.peer_address_template,
          "where addresses of workers are computed: an IPv4 address with {slice} and {task} in "
          "place of a number, such as 10.{slice}.0.{task}");
  AddFlag(app, "proc-root", flags.host.proc_root,
          "where the processes of the training container are to be seen");
  AddFlag(app, "poll-interval", flags.poll_interval, "how often the runtime is asked in health");
  AddFlag(app, "metrics-port", flags.metrics_port,
          "port for Prometheus' /metrics and for /healthz; without it none is opened");
  AddFlag(app, "metrics-address", flags.metrics_address,
          "where that port is; one that others can reach needs --insecure");
  AddFlag(app, "state-dir", flags.state_dir,
          "where is left for the next agent what nobody was told: evidence of a hang, alarms; off: "
          "nowhere");
  AddFlag(app, "once", flags.once, "sample once, print the snapshot as JSON, and exit");
  AddFlag(app, "log-format", flags.log_format, "of standard error: text or json")
      ->check(CLI::IsMember({"text", "json"}));
  AddFlag(app, "tls-cert", flags.credentials.tls_cert, "certificate of this agent, a PEM file");
  AddFlag(app, "tls-key", flags.credentials.tls_key, "its private key, a PEM file");
  AddFlag(app, "tls-ca", flags.credentials.tls_ca, "who may sign the coordinator, a PEM file");
  AddFlag(app, "tls-identity", flags.credentials.identities,
          "whom the coordinator's certificate must name, a name or a pattern with * and ?; may be "
          "repeated (else the host of --coordinator)");
  AddFlag(app, "insecure", flags.credentials.insecure,
          "speak plaintext with a coordinator that is not on this host, or over --metrics-port");
}

Environment ReadEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string::npos) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

std::string Hostname() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

AgentSettings Settings(const Identity& identity, absl::Duration poll_interval) {
  AgentSettings settings;
  wire::Hello& hello = settings.hello;
  hello.job = identity.job;
  hello.worker = identity.worker;
  hello.host = identity.host;
  hello.node = identity.node;
  hello.pod = identity.pod;
  hello.hardware = identity.hardware;
  hello.agent_incarnation = absl::ToUnixMicros(absl::Now());
  hello.slices = identity.slices;
  hello.tasks_per_slice = identity.tasks_per_slice;
  hello.generation = identity.generation;
  hello.job_incarnation = identity.job_incarnation;
  hello.poll_interval = poll_interval;
  hello.version = program::Version();
  settings.has_coordinator = !identity.coordinator.empty();
  // Agents that start in the same microsecond on two hosts still differ.
  settings.seed = absl::Hash<std::tuple<std::string, int32_t, int32_t, int64_t>>()(
      {identity.host, identity.worker.slice, identity.worker.task, hello.agent_incarnation});
  return settings;
}

int Usage(const std::string& message) {
  std::fprintf(stderr, "rapideye-agent: %s\n", message.c_str());
  return program::kExitUsage;
}

HostOptions Host(const Flags& flags, const Identity& identity) {
  HostOptions host = flags.host;
  host.runtime = identity.runtime;
  host.self = identity.worker;
  return host;
}

http::Response Answer(const Agent& agent, const http::Request& request) {
  if (request.path == "/metrics") {
    return {.content_type = metrics::kContentType,
            .body = RenderMetrics(agent.telemetry().Get(), agent.dropped_events()),
            .headers = {}};
  }
  if (request.path == "/healthz") return {.body = "ok\n", .headers = {}};
  return {.status = 404, .body = "not here; there are /metrics /healthz\n", .headers = {}};
}

// nullptr if no port is asked for.
absl::StatusOr<std::unique_ptr<http::HttpServer>> ServeMetrics(const Flags& flags,
                                                               const Agent& agent) {
  if (!flags.metrics_port.has_value()) return nullptr;
  return http::HttpServer::Start(
      {.address = absl::StrCat(flags.metrics_address, ":", *flags.metrics_port),
       .insecure = flags.credentials.insecure},
      [&agent](const http::Request& request) { return Answer(agent, request); });
}

std::optional<StateFile> StateOf(const Flags& flags, const Identity& identity) {
  if (flags.state_dir.empty() || flags.state_dir == "off") return std::nullopt;
  return StateFile(flags.state_dir, Settings(identity, flags.poll_interval).hello);
}

int Watch(const Flags& flags, const Identity& identity) {
  if (identity.coordinator.empty()) {
    return Usage(
        "nothing tells where the coordinator is; give --coordinator=HOST:PORT (or set "
        "RAPIDEYE_COORDINATOR or MEGASCALE_COORDINATOR_ADDRESS), or use --once");
  }
  auto credentials = transport::MakeChannelCredentials(flags.credentials, identity.coordinator);
  if (!credentials.ok()) return Usage(std::string(credentials.status().message()));

  absl::StatusOr<program::StopSignals> signals = program::StopSignals::Catch();
  if (!signals.ok()) {
    spdlog::error("{}", std::string(signals.status().message()));
    return program::kExitFailure;
  }
  spdlog::info("worker {}/{} of job {} on host {}: runtime at {}, coordinator at {}",
               identity.worker.slice, identity.worker.task, identity.job, identity.host,
               identity.runtime, identity.coordinator);
  Agent agent({Settings(identity, flags.poll_interval),
               Host(flags, identity),
               {flags.logs, false},
               identity.coordinator,
               *std::move(credentials),
               StateOf(flags, identity)});
  auto metrics = ServeMetrics(flags, agent);
  if (!metrics.ok()) {
    spdlog::error("--metrics-port: {}", std::string(metrics.status().message()));
    return absl::IsInvalidArgument(metrics.status()) ? program::kExitUsage : program::kExitFailure;
  }
  if (*metrics != nullptr) spdlog::info("metrics at http://{}/metrics", (*metrics)->address());
  std::thread worker([&agent] { agent.Run(); });
  signals->Wait();
  agent.Stop();
  worker.join();
  spdlog::info("stopped");
  return program::kExitOk;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Watches one TPU training process and reports to its job's rapideye-coordinator.",
               "rapideye-agent");
  AddFlags(app, flags);
  program::ConfigureApp(app);
  if (const std::optional<int> exit_code = program::Parse(app, argc, argv)) return *exit_code;
  if (flags.poll_interval < kShortestPollInterval || flags.poll_interval > kSlowestPoll) {
    return Usage(absl::StrCat("--poll-interval: must be from ",
                              absl::FormatDuration(kShortestPollInterval), " to ",
                              absl::FormatDuration(kSlowestPoll)));
  }
  program::SetUpLogging("rapideye-agent", flags.log_format == "json" ? program::LogFormat::kJson
                                                                     : program::LogFormat::kText);
  const absl::StatusOr<Identity> identity =
      FindIdentity(flags.identity, ReadEnvironment(), Hostname());
  if (!identity.ok()) return Usage(std::string(identity.status().message()));
  for (const std::string& note : identity->notes) spdlog::warn("{}", note);
  absl::StatusOr<Peers> peers = Peers::Parse(flags.peers, flags.peer_address_template);
  if (!peers.ok()) return Usage(std::string(peers.status().message()));
  flags.host.peers = *std::move(peers);
  if (!flags.once) return Watch(flags, *identity);

  const absl::StatusOr<std::string> line = SampleOnce(Settings(*identity, flags.poll_interval),
                                                      Host(flags, *identity), {flags.logs, true});
  if (!line.ok()) {
    spdlog::error("{}", std::string(line.status().message()));
    return program::kExitFailure;
  }
  std::printf("%s\n", line->c_str());
  return std::fflush(stdout) == 0 ? program::kExitOk : program::kExitFailure;
}

}  // namespace
}  // namespace rapideye::agent

int main(int argc, char** argv) { return rapideye::agent::Main(argc, argv); }

// rapideye-agent: watches one training process and tells its coordinator.
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/core/agent_core.h"
#include "agent/daemon/agent.h"
#include "agent/daemon/agent_metrics.h"
#include "agent/daemon/exec_mode.h"
#include "agent/daemon/flags.h"
#include "agent/daemon/once.h"
#include "agent/daemon/state_file.h"
#include "agent/exec/exec_arguments.h"
#include "agent/sources/identity/fetch.h"
#include "agent/sources/identity/identity.h"
#include "agent/sources/log/fetch_signatures.h"
#include "agent/sources/nic/fetch.h"
#include "agent/sources/nic/parse.h"
#include "agent/sources/probe/limits.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/http/http_server.h"
#include "proto/common/logging/logging.h"
#include "proto/common/metrics/metric_page.h"
#include "proto/common/process/descriptor_limit.h"
#include "proto/common/process/private_memory.h"
#include "proto/common/process/signals.h"
#include "proto/common/worker/thread.h"
#include "proto/transport/certificate_watch.h"
#include "proto/transport/credentials.h"
#include "proto/transport/tls_files.h"
#include "proto/wire/messages.h"

extern char** environ;

namespace rapideye::agent {
namespace {

// Time between two looks at the expiry of the own certificate, which is logged a week before.
constexpr absl::Duration kCertificateInterval = absl::Hours(1);

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
  hello.addresses = ReachableAddresses(ListNics());
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
  host.platform.node = identity.node.value_or(identity.host);
  host.platform.pod = identity.pod.value_or("");
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  // Google's own libraries learn of another metadata server by the same variable.
  const std::string metadata = variable("GCE_METADATA_HOST");
  if (!metadata.empty()) host.platform.metadata_server = metadata;
  const std::string api = variable("KUBERNETES_SERVICE_HOST");
  const bool v6 = absl::StrContains(api, ':');
  host.platform.api_server = absl::StrCat("https://", v6 ? "[" : "", api, v6 ? "]:" : ":",
                                          variable("KUBERNETES_SERVICE_PORT"));
  host.logs = flags.logs.patterns;
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
  return StateFile(flags.state_dir, Settings(identity, flags.poll_interval).hello, *flags.redactor);
}

constexpr char kNoCoordinator[] =
    "nothing tells where the coordinator is; give --coordinator=HOST:PORT (or set "
    "RAPIDEYE_COORDINATOR or MEGASCALE_COORDINATOR_ADDRESS), or use --once";

void StartLogging(const Flags& flags) {
  program::SetUpLogging("rapideye-agent", flags.log_format == "json" ? program::LogFormat::kJson
                                                                     : program::LogFormat::kText);
}

// Reads the files again that the flags name. gRPC reads certificates by itself.
void Reload(const Flags& flags, Agent& agent) {
  spdlog::info("SIGHUP: reading the files again that flags name");
  if (!flags.log_signatures.empty()) {
    absl::StatusOr<logs::SignatureTable> signatures = ReadSignatureTable(flags.log_signatures);
    if (signatures.ok()) {
      agent.Use(*std::move(signatures));
    } else {
      spdlog::error("{}; the signatures stay as they are",
                    std::string(signatures.status().message()));
    }
  }
  if (flags.credentials.tls_cert.empty()) return;
  const absl::Status checked = transport::CheckTlsFiles(
      flags.credentials.tls_cert, flags.credentials.tls_key, flags.credentials.tls_ca);
  if (checked.ok()) {
    spdlog::info("the certificate is in order; new connections use it within a minute");
  } else {
    spdlog::error("{}; connections go on with what was read before",
                  std::string(checked.message()));
  }
}

using Credentials = std::shared_ptr<grpc::ChannelCredentials>;

// `command`: the command that the agent itself has started; nullptr: none.
int Watch(const Flags& flags, const Identity& identity, Credentials credentials,
          const CommandWatch* command) {
  // The training process may be of the same user, and is not to read the key.
  KeepMemoryPrivate();
  // Each of fifteen threads that seldom run would keep the memory for itself that it has freed.
  mallopt(M_ARENA_MAX, 1);
  // Only in the agent's own process: the command keeps the limit that it was given.
  program::RaiseDescriptorLimit();
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
               flags.logs,
               {static_cast<uint16_t>(flags.probe_port), kProbeTime},
               identity.coordinator,
               std::move(credentials),
               StateOf(flags, identity),
               flags.hlo_dump_dir,
               *flags.redactor});
  if (absl::Status status = signals->OnHangup([&] { Reload(flags, agent); }); !status.ok()) {
    spdlog::warn("{}", std::string(status.message()));
  }
  auto metrics = ServeMetrics(flags, agent);
  if (!metrics.ok()) {
    spdlog::error("--metrics-port: {}", std::string(metrics.status().message()));
    return absl::IsInvalidArgument(metrics.status()) ? program::kExitUsage : program::kExitFailure;
  }
  if (*metrics != nullptr) spdlog::info("metrics at http://{}/metrics", (*metrics)->address());
  const transport::CertificateWatch certificates(
      flags.credentials,
      {.warn = [](const std::string& text) { spdlog::warn("{}", text); },
       .changed = [](const std::shared_ptr<const transport::PeerChecker>&) {}},
      kCertificateInterval);
  Thread worker([&agent] { agent.Run(); });
  if (command != nullptr) {
    AwaitEnd(*command, agent, *signals);
  } else {
    signals->Wait();
  }
  agent.Stop();
  worker.Join();
  spdlog::info("stopped");
  return program::kExitOk;
}

absl::StatusOr<Identity> IdentityOf(const Flags& flags) {
  absl::StatusOr<Identity> identity = FindIdentity(flags.identity, ReadEnvironment(), Hostname());
  if (identity.ok() && !identity->hardware.has_value()) {
    identity->hardware = ReadSerial(flags.host.sys_root);
  }
  return identity;
}

absl::StatusOr<Credentials> CredentialsOf(const Flags& flags,
                                          const absl::StatusOr<Identity>& identity) {
  if (!identity.ok()) return identity.status();
  if (identity->coordinator.empty()) return absl::InvalidArgumentError(kNoCoordinator);
  return transport::MakeChannelCredentials(flags.credentials, identity->coordinator);
}

// Runs in a process of its own beside the command: the settings may be wrong, and a look may block.
int WatchBeside(Flags& flags, const std::string& wrong_arguments, const CommandWatch& command) {
  absl::Status problem =
      wrong_arguments.empty() ? Check(flags) : absl::InvalidArgumentError(wrong_arguments);
  const absl::StatusOr<Identity> identity =
      problem.ok() ? IdentityOf(flags) : absl::StatusOr<Identity>(problem);
  absl::StatusOr<Credentials> credentials = CredentialsOf(flags, identity);
  problem.Update(credentials.status());
  if (!problem.ok()) {
    std::fprintf(stderr, "rapideye-agent exec: %s\nrapideye-agent exec: %s runs unwatched\n",
                 std::string(problem.message()).c_str(), flags.command.front().c_str());
    return program::kExitUsage;
  }
  const WorkerId worker = identity->worker;
  LogTo(OpenLog(flags, absl::StrCat("agent-", worker.slice, "-", worker.task, ".log")));
  StartLogging(flags);
  for (const std::string& note : identity->notes) spdlog::warn("{}", note);
  LetSourcesKnow(command, flags);
  return Watch(flags, *identity, *std::move(credentials), &command);
}

// Runs the command, and the agent beside it. An agent that cannot work is no reason for a job not
// to run, and nothing of its settings is looked at before the command runs. `wrong_arguments`:
// the parser's complaint about the agent's own arguments.
int Supervise(Flags& flags, const std::string& wrong_arguments) {
  ExecOptions options;
  options.command = flags.command;
  options.agent = [&](const CommandWatch& command) {
    return WatchBeside(flags, wrong_arguments, command);
  };
  // The log of the supervisor's own lines: the supervisor need not know which worker this is.
  options.open_log = [&] { return OpenLog(flags, "exec.log"); };
  return Exec(options);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Watches one TPU training process and reports to its job's rapideye-coordinator.",
               "rapideye-agent");
  AddFlags(app, flags);
  program::ConfigureApp(app, wire::kProtocolVersion);
  std::string problem;
  if (const std::optional<int> exit_code = program::Parse(app, argc, argv, problem)) {
    if (*exit_code == program::kExitOk) return *exit_code;  // --help, --version
    flags.command = FindCommand(std::vector<std::string>(argv + 1, argv + argc));
    // Flags that were parsed before the wrong flag are half of what the user meant.
    flags.exec_log = "stderr";
    if (!flags.command.empty()) return Supervise(flags, problem);
    std::fputs(problem.c_str(), stderr);
    return *exit_code;
  }
  if (!flags.command.empty()) return Supervise(flags, /*wrong_arguments=*/"");
  const absl::Status checked = Check(flags);
  if (!checked.ok()) return Usage(std::string(checked.message()));
  const absl::StatusOr<Identity> identity = IdentityOf(flags);
  StartLogging(flags);
  if (!identity.ok()) return Usage(std::string(identity.status().message()));
  for (const std::string& note : identity->notes) spdlog::warn("{}", note);
  if (!flags.once) {
    absl::StatusOr<Credentials> credentials = CredentialsOf(flags, identity);
    if (!credentials.ok()) return Usage(std::string(credentials.status().message()));
    return Watch(flags, *identity, *std::move(credentials), /*command=*/nullptr);
  }

  const absl::StatusOr<std::string> line =
      SampleOnce(Settings(*identity, flags.poll_interval), Host(flags, *identity), flags.logs,
                 flags.hlo_dump_dir, *flags.redactor);
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

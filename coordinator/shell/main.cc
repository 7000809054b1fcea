// rapideye-coordinator: one per job.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <stdio.h>

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/shell/coordinator.h"
#include "coordinator/shell/environment.h"
#include "proto/program/command_line.h"
#include "proto/program/logging.h"

namespace rapideye::coordinator {
namespace {

// What the wire takes as an interval; nobody waits longer for a launch.
constexpr absl::Duration kMaxThreshold = absl::Hours(24);
// Two looks and their interval need this much (contract: 500 ms apart).
constexpr absl::Duration kMinCollectDeadline = absl::Seconds(2);

struct Flags {
  CoordinatorSettings settings;
  int slices = 0;
  int tasks_per_slice = 0;
  std::string launch_threshold = "auto";
  std::string hang_threshold = "auto";
  std::string digest_format = "classic";
  std::string log_format = "text";
};

std::string CheckThreshold(const std::string& text) {
  absl::Duration value;
  if (text == "auto") return "";
  if (absl::ParseDuration(text, &value) && value > absl::ZeroDuration() && value <= kMaxThreshold) {
    return "";
  }
  return absl::StrCat("'", text, "' is neither 'auto' nor a duration such as 90s, up to ",
                      absl::FormatDuration(kMaxThreshold));
}

std::optional<absl::Duration> Threshold(const std::string& text) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value)) return std::nullopt;
  return value;
}

void AddFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  CoordinatorSettings& s = flags.settings;
  AddFlag(app, "listen", s.listen, "address the agents connect to; port 0 takes a free one");
  AddFlag(app, "job", s.core.shape.job,
          "name of the job; empty: from the environment, otherwise the first worker's");
  AddFlag(app, "slices", flags.slices, "slices of the job; 0: from the environment, or learnt")
      ->check(CLI::NonNegativeNumber);
  AddFlag(app, "tasks-per-slice", flags.tasks_per_slice,
          "workers of a slice; 0: from the environment, or learnt")
      ->check(CLI::NonNegativeNumber);
  AddFlag(app, "state-dir", s.state_dir, "where incidents are kept; should outlive the pod");
  AddFlag(app, "launch-threshold", flags.launch_threshold,
          "alarm when launches have started and none completes for so long; auto: the larger of "
          "10s and 5 x the longest healthy launch, at most 5m")
      ->check(CheckThreshold, "auto|DURATION");
  AddFlag(app, "hang-threshold", flags.hang_threshold,
          "alarm when nothing runs for so long; auto: the larger of 5m and 3 x the longest "
          "healthy pause")
      ->check(CheckThreshold, "auto|DURATION");
  AddFlag(app, "startup-grace", s.core.thresholds.startup_grace,
          "until the first launch of a job, or of a new program, completes");
  AddFlag(app, "collect-deadline", s.core.collect_deadline,
          "time for collecting evidence from all workers, at least 2s");
  AddFlag(app, "digest-format", flags.digest_format, "layout of the digest's text")
      ->check(CLI::IsMember({"classic", "grouped"}));
  AddFlag(app, "log-format", flags.log_format, "of standard error")
      ->check(CLI::IsMember({"text", "json"}));
  AddFlag(app, "tls-cert", s.credentials.tls_cert, "certificate of this coordinator (PEM)");
  AddFlag(app, "tls-key", s.credentials.tls_key, "its private key (PEM)");
  AddFlag(app, "tls-ca", s.credentials.tls_ca, "who signs the certificates of agents (PEM)");
  AddFlag(app, "insecure", s.credentials.insecure,
          "serve without TLS on an address that is not loopback");
}

// Turns what the flags say into settings; INVALID_ARGUMENT names the flag.
absl::Status Complete(Flags& flags) {
  CoordinatorSettings& s = flags.settings;
  if (s.core.collect_deadline < kMinCollectDeadline) {
    return absl::InvalidArgumentError(absl::StrCat("--collect-deadline: must be at least ",
                                                   absl::FormatDuration(kMinCollectDeadline)));
  }
  if (s.state_dir.empty()) return absl::InvalidArgumentError("--state-dir: must not be empty");
  if (flags.slices > 0) s.core.shape.slices = flags.slices;
  if (flags.tasks_per_slice > 0) s.core.shape.tasks_per_slice = flags.tasks_per_slice;
  s.core.shape = WithEnvironment(std::move(s.core.shape), ReadProcessVariable);
  s.core.thresholds.launch = Threshold(flags.launch_threshold);
  s.core.thresholds.hang = Threshold(flags.hang_threshold);
  if (flags.digest_format == "grouped") s.digest_format = digest::TextFormat::kGrouped;
  return absl::OkStatus();
}

// Log readers grep for whole lines of the digest: as text it stands in the log as
// it is, in one piece; as JSON it is the message of one record.
void LogDigest(const std::string& text, bool json) {
  if (json) {
    spdlog::error("{}", text);
    return;
  }
  spdlog::default_logger()->flush();
  fwrite(text.data(), 1, text.size(), stderr);
  fflush(stderr);
}

int Main(int argc, char** argv) {
  CLI::App app("Watches one TPU training job; when it hangs, says why.", "rapideye-coordinator");
  Flags flags;
  flags.settings.state_dir = "/var/lib/rapideye";
  program::ConfigureApp(app);
  AddFlags(app, flags);
  if (const std::optional<int> code = program::Parse(app, argc, argv)) return *code;
  const bool json = flags.log_format == "json";
  program::SetUpLogging("rapideye-coordinator",
                        json ? program::LogFormat::kJson : program::LogFormat::kText);
  if (absl::Status status = Complete(flags); !status.ok()) {
    spdlog::error("{}", std::string(status.message()));
    return program::kExitUsage;
  }
  flags.settings.log_digest = [json](const std::string&, const std::string& text) {
    LogDigest(text, json);
  };

  // Taken by one thread of ours, before any other thread exists.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto coordinator = Coordinator::Start(std::move(flags.settings));
  if (!coordinator.ok()) {
    spdlog::error("{}", std::string(coordinator.status().message()));
    return absl::IsInvalidArgument(coordinator.status()) ? program::kExitUsage
                                                         : program::kExitFailure;
  }
  spdlog::info("listening on {}", (*coordinator)->address());
  std::thread stopper([&] {
    int number = 0;
    sigwait(&signals, &number);
    spdlog::info("asked to stop by signal {}", number);
    (*coordinator)->RequestStop();
  });
  (*coordinator)->Run();
  stopper.join();
  return program::kExitOk;
}

}  // namespace
}  // namespace rapideye::coordinator

int main(int argc, char** argv) { return rapideye::coordinator::Main(argc, argv); }

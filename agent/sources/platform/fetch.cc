#include "agent/sources/platform/fetch.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/sources/platform/limits.h"
#include "agent/sources/platform/parse.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/small_file.h"
#include "proto/common/http/http_client.h"
#include "proto/common/process/run_process.h"

namespace rapideye::agent {
namespace {

constexpr http::CallLimits kLimits = {.deadline = kPlatformDeadline,
                                      .max_answer_bytes = kMaxPlatformAnswerBytes};

absl::StatusOr<std::string> Ask(const http::Call& call) {
  return http::DocumentOf(http::CallOne(call, kLimits));
}

class Asking {
 public:
  Asking(const PlatformOptions& options, absl::Time now) : options_(options), now_(now) {}

  PlatformReading Run() {
    if (options_.names.contains(kComputeEngine)) AskMetadataServer();
    if (options_.names.contains(kKubernetes)) AskApiServer();
    if (options_.names.contains(kSlurm)) AskSlurm();
    return std::move(reading_);
  }

 private:
  void Complain(const std::string& what, const absl::Status& status) {
    absl::StrAppend(&reading_.unavailable, reading_.unavailable.empty() ? "" : "; ", what, ": ",
                    std::string(status.message()));
  }

  void Take(const std::string& what, absl::StatusOr<PlatformEvents> events) {
    if (!events.ok()) {
      Complain(what, events.status());
      return;
    }
    for (PlatformEvent& event : *events) reading_.events.push_back(std::move(event));
  }

  void AskMetadataServer() {
    const auto ask = [this](const char* document) {
      return Ask({.url = absl::StrCat("http://", options_.metadata_server,
                                      "/computeMetadata/v1/instance/", document),
                  .headers = {"Metadata-Flavor: Google"}});
    };
    const auto preempted = ask("preempted");
    if (!preempted.ok()) {
      Complain("the metadata server", preempted.status());
      return;
    }
    Take("", ParsePreempted(*preempted));
    const auto maintenance = ask("maintenance-event");
    if (maintenance.ok()) Take("", ParseMaintenanceEvent(*maintenance));
    // The path exists only while a maintenance is planned.
    const auto upcoming = ask("upcoming-maintenance?alt=json");
    if (upcoming.ok()) Take("the metadata server", ParseUpcomingMaintenance(*upcoming, now_));
  }

  void AskApiServer() {
    // Renewed by the kubelet: read each time.
    const auto token = file::ReadSmallFile(options_.account_folder + "/token", kMaxTokenBytes);
    if (!token.has_value()) {
      Complain("Kubernetes",
               absl::NotFoundError(absl::StrCat(
                   options_.account_folder,
                   "/token cannot be read; give the pod a service account and mount its token")));
      return;
    }
    const auto ask = [&](const std::string& path) {
      return Ask(
          {.url = absl::StrCat(options_.api_server, path),
           .headers = {absl::StrCat("Authorization: Bearer ", absl::StripAsciiWhitespace(*token)),
                       "Accept: application/json"},
           .ca = options_.account_folder + "/ca.crt"});
    };
    const auto take = [&](const std::string& path, auto parse, const char* right) {
      const absl::StatusOr<std::string> answer = ask(path);
      if (answer.ok()) {
        Take("Kubernetes", parse(*answer, now_));
      } else {
        Complain(absl::StrCat("Kubernetes (it needs the right to ", right, ")"), answer.status());
      }
    };
    if (!options_.node.empty()) {
      take("/api/v1/nodes/" + options_.node, ParseNode, "get nodes");
      take(absl::StrCat("/api/v1/namespaces/default/events?limit=100&fieldSelector="
                        "involvedObject.kind%3DNode%2CinvolvedObject.name%3D",
                        options_.node),
           ParseEvents, "list events in the namespace default");
    }
    const auto own = file::ReadSmallFile(options_.account_folder + "/namespace", kMaxTokenBytes);
    if (!options_.pod.empty() && own.has_value()) {
      take(absl::StrCat("/api/v1/namespaces/", absl::StripAsciiWhitespace(*own),
                        "/events?limit=100&fieldSelector="
                        "involvedObject.kind%3DPod%2CinvolvedObject.name%3D",
                        options_.pod),
           ParseEvents, "list events in its namespace");
    }
  }

  void AskSlurm() {
    if (options_.node.empty()) {
      Complain("Slurm", absl::NotFoundError("the name of the node is not known; give --node"));
      return;
    }
    std::string output;
    const ProcessOutcome outcome = RunProcess({
        .command = {options_.scontrol, "--oneliner", "show", "node", options_.node},
        .environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"},
        .output =
            [&output](std::string_view bytes) {
              output.append(bytes);
              return output.size() <= kMaxPlatformAnswerBytes;
            },
        .timeout = kPlatformDeadline,
    });
    if (outcome.exit_status != 0) {
      const std::string why = !outcome.not_started.empty() ? "it cannot be started"
                              : outcome.stopped != ProcessOutcome::Stopped::kNo
                                  ? "it did not answer in time"
                                  : PlatformText(output);
      Complain(absl::StrCat("Slurm (", options_.scontrol, ")"), absl::UnavailableError(why));
      return;
    }
    Take("Slurm", ParseSlurmNode(output));
  }

  const PlatformOptions& options_;
  const absl::Time now_;
  PlatformReading reading_;
};

}  // namespace

PlatformReading AskPlatforms(const PlatformOptions& options, absl::Time now) {
  return Asking(options, now).Run();
}

PlatformFetcher::PlatformFetcher(PlatformOptions options)
    : options_(std::move(options)),
      worker_([this](bool last) { return last ? absl::InfiniteDuration() : Ask(); }) {}

absl::Duration PlatformFetcher::Ask() {
  PlatformReading answer = AskPlatforms(options_, absl::Now());
  {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
  }
  answered_.NotifyAll();
  return MonotonicTime() + kPlatformSpacing;
}

std::optional<PlatformReading> PlatformFetcher::Fetch(const HostLook& look, absl::Duration,
                                                      HostFindings&) {
  const MutexLock lock(mutex_);
  const absl::Duration deadline = MonotonicTime() + kPlatformPatience;
  while (look.only && !answer_.has_value()) {
    if (!answered_.WaitUntil(mutex_, deadline)) {
      return PlatformReading{.events = {},
                             .unavailable = absl::StrCat("the platform did not answer within ",
                                                         absl::FormatDuration(kPlatformPatience))};
    }
  }
  return std::exchange(answer_, std::nullopt);
}

std::unique_ptr<Fetcher<PlatformReading>> PlatformSource::MakeFetcher(const HostOptions& options,
                                                                      HostFindings&) {
  if (options.platform.names.empty()) return nullptr;
  return std::make_unique<PlatformFetcher>(options.platform);
}

}  // namespace rapideye::agent

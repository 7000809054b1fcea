#include "coordinator/cli/status.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/status_text.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/process/signals.h"

namespace rapideye::cli {
namespace {

// Shorter than a person's patience; a coordinator answers in milliseconds.
constexpr absl::Duration kStatusTimeout = absl::Seconds(10);
constexpr absl::Duration kWatchPeriod = absl::Seconds(1);
// Cursor home, erase the rest of the screen: less flicker than to clear it first.
constexpr char kRedraw[] = "\x1b[H\x1b[J";

}  // namespace

StatusCommand::StatusCommand(CLI::App& app)
    : Command(app, "status", "Print the state of the job: progress, slowest and missing workers") {
  coordinator_.AddTo(this->app(), kStatusTimeout);
  AddFormat(format_, "output format; json: one object per line");
  program::AddFlag(this->app(), "watch", watch_, "prints the state every second until interrupted");
  program::AddFlag(
      this->app(), "count", count_,
      "with --watch: prints this many states, then exits (else runs until interrupted)");
  program::AddFlag(this->app(), "fail-on-hang", fail_on_hang_,
                   "exits with status 1 if the job hangs, for scripts and probes");
}

bool StatusCommand::Show(const v1::GetStatusReply& status) const {
  if (format_ == "json") return Print(StatusJson(status));
  const bool colours = ObeysColours();
  if (!watch_) return Print(StatusText(status, colours));
  const std::string text =
      absl::StrCat(absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone()), "  ",
                   coordinator_.coordinator, "\n\n", StatusText(status, colours));
  return Print(isatty(STDOUT_FILENO) != 0 ? absl::StrCat(kRedraw, text) : absl::StrCat(text, "\n"));
}

int StatusCommand::Run() {
  if (count_.value_or(1) <= 0) {
    Complain("--count: must be above 0");
    return program::kExitUsage;
  }
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  if (watch_) return Watch(*client);
  const absl::StatusOr<v1::GetStatusReply> status = client->GetStatus();
  if (!status.ok()) return Fail(status.status());
  return Show(*status) && !(fail_on_hang_ && Hangs(*status)) ? program::kExitOk
                                                             : program::kExitFailure;
}

int StatusCommand::Watch(CoordinatorClient& client) const {
  absl::StatusOr<program::StopSignals> signals = program::StopSignals::Catch();
  if (!signals.ok()) return Fail(signals.status());
  int exit_status = program::kExitOk;
  for (int64_t shown = 1;; ++shown) {
    const absl::StatusOr<v1::GetStatusReply> status = client.GetStatus();
    exit_status = status.ok() ? program::kExitOk : Fail(status.status());
    if (status.ok() && fail_on_hang_ && Hangs(*status)) exit_status = program::kExitFailure;
    if (!status.ok()) {
      // A coordinator that has just restarted is asked at once, not after gRPC's backoff.
      if (absl::StatusOr<CoordinatorClient> anew = CoordinatorClient::Make(coordinator_);
          anew.ok()) {
        client = *std::move(anew);
      }
    }
    if (status.ok() && !Show(*status)) return program::kExitFailure;
    if (shown == count_) return exit_status;
    // A person may stop watching at any time; a script gets the exit status of the last look.
    if (signals->Wait(kWatchPeriod).has_value()) {
      return fail_on_hang_ ? exit_status : program::kExitOk;
    }
  }
}

}  // namespace rapideye::cli

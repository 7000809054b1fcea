#include "coordinator/core/watch_pause.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {

absl::Status WatchPause::Begin(absl::Duration duration, std::string reason, std::string by,
                               const Instant& now) {
  if (duration <= absl::ZeroDuration() || duration > kLongestWatchPause) {
    return absl::InvalidArgumentError(absl::StrCat("for: must be more than 0 and at most ",
                                                   absl::FormatDuration(kLongestWatchPause),
                                                   "; a longer one is begun again"));
  }
  if (absl::StripAsciiWhitespace(reason).empty()) {
    return absl::InvalidArgumentError("reason: must say why nothing is to be raised meanwhile");
  }
  until_ = now.monotonic + duration;
  pause_ = {.until = now.wall + duration,
            .reason = text::EscapeText(reason, text::kMaxSentenceBytes),
            .by = text::EscapeText(by, text::kMaxNameBytes)};
  return absl::OkStatus();
}

bool WatchPause::Restore(const KeptPause& pause, const Instant& now) {
  const absl::Duration left = pause.until - now.wall;
  // No operator can have asked for so long: a clock was wrong, and a restart would begin it anew.
  if (left > kLongestWatchPause + kWatchPauseClockSlack) return false;
  return Begin(std::min(left, kLongestWatchPause), pause.reason, pause.by, now).ok();
}

absl::Status WatchPause::End() {
  if (!pause_.has_value()) {
    return absl::FailedPreconditionError("the watch is not paused; see rapideye status");
  }
  *this = WatchPause();
  return absl::OkStatus();
}

bool WatchPause::TakeOver(absl::Duration now) {
  if (!pause_.has_value() || now < until_) return false;
  *this = WatchPause();
  return true;
}

absl::Duration WatchPause::NextWake() const {
  return pause_.has_value() ? until_ : absl::InfiniteDuration();
}

std::optional<PauseStatus> WatchPause::Status(absl::Duration now) const {
  if (!pause_.has_value()) return std::nullopt;
  return PauseStatus{.left = until_ - now, .reason = pause_->reason, .by = pause_->by};
}

}  // namespace rapideye::coordinator

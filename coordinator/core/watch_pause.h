// WatchPause suspends the watch over a job for a time that an operator announces: a debugger, a
// planned stop, a long save by hand.
#ifndef RAPIDEYE_COORDINATOR_CORE_WATCH_PAUSE_H_
#define RAPIDEYE_COORDINATOR_CORE_WATCH_PAUSE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

// Times are monotonic; `now` never goes back.
class WatchPause {
 public:
  // Begins a pause, or replaces the one that lasts. INVALID_ARGUMENT unless `duration` is
  // positive and at most kLongestWatchPause, and the reason not empty; texts are cut to a
  // sentence.
  absl::Status Begin(absl::Duration duration, std::string reason, std::string by,
                     const Instant& now);
  // Goes on with a pause that an earlier coordinator was told of; false if its time is over, or
  // it ends later than any pause may.
  bool Restore(const KeptPause& pause, const Instant& now);
  // Ends the pause before its time. FAILED_PRECONDITION if none lasts.
  absl::Status End();

  bool lasts() const { return pause_.has_value(); }
  // True, once, when the time of the pause is over.
  bool TakeOver(absl::Duration now);
  // The end of the pause; infinite if none lasts.
  absl::Duration NextWake() const;
  // The pause for operators; nullopt if none lasts.
  std::optional<PauseStatus> Status(absl::Duration now) const;
  // The pause for the next coordinator, by the wall clock; nullopt if none lasts.
  std::optional<KeptPause> Kept() const { return pause_; }

 private:
  absl::Duration until_ = absl::InfiniteDuration();
  std::optional<KeptPause> pause_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_WATCH_PAUSE_H_

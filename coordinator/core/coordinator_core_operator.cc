#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

// What operators ask -----------------------------------------------------------------

void CoordinatorCore::On(const SnapshotRequested& event) {
  ++job_.counters.snapshots_requested;
  if (stopping_) {
    Emit(SnapshotRefused{event.ticket, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  on_demand_.Request(event.ticket, job_, effects_);
}

void CoordinatorCore::On(const StatusRequested& event) {
  Emit(StatusReport{event.ticket,
                    reporter_.Report(job_, CurrentActivity(), last_incident_, now_.monotonic)});
}

Activity CoordinatorCore::CurrentActivity() const {
  switch (state_) {
    case State::kCollecting:
      return Activity::kCollecting;
    case State::kConcluding:
      return Activity::kConcluding;
    case State::kWaiting:
      return Activity::kWaiting;
    case State::kArmed:
      break;
  }
  return job_.settled && job_.progress.LastCompletion().has_value() ? Activity::kArmed
                                                                    : Activity::kLearning;
}

}  // namespace rapideye::coordinator

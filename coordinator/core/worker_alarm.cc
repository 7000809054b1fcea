#include "coordinator/core/worker_alarm.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void WorkerAlarm::Raise(Raised raised, absl::Duration now) {
  if (pending_.has_value()) return;
  pending_ =
      Pending{.raised = std::move(raised), .tries = kAlarmTries, .due = std::max(now, not_before_)};
}

std::optional<WorkerAlarm::Raised> WorkerAlarm::Due(absl::Duration now) const {
  if (!pending_.has_value() || now < pending_->due) return std::nullopt;
  return pending_->raised;
}

void WorkerAlarm::FoundNoHang(absl::Duration now) {
  if (!pending_.has_value()) return;
  if (--pending_->tries > 0) {
    pending_->due = now + kAlarmRetry;
    return;
  }
  pending_.reset();
  HoldOff(now);
}

void WorkerAlarm::HoldOff(absl::Duration now) { not_before_ = now + kAlarmInterval; }

}  // namespace rapideye::coordinator

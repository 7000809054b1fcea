#include "coordinator/core/worker_alarm.h"

#include <algorithm>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void WorkerAlarm::Raise(const std::string& why, absl::Duration now) {
  if (pending_.has_value()) return;
  pending_ = Pending{.why = why, .tries = kAlarmTries, .due = std::max(now, not_before_)};
}

std::optional<std::string> WorkerAlarm::Due(absl::Duration now) const {
  if (!pending_.has_value() || now < pending_->due) return std::nullopt;
  return pending_->why;
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

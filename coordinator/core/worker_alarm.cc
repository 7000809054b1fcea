#include "coordinator/core/worker_alarm.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/incident.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

std::string TriggerOf(wire::AlarmKind kind) {
  switch (kind) {
    case wire::AlarmKind::kCoreHalt:
      return "halt";
    case wire::AlarmKind::kProcessExit:
      return kExitTrigger;
    case wire::AlarmKind::kUnspecified:
    case wire::AlarmKind::kHangLine:
      break;
  }
  return "hang-line";
}

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

// Keeps an alarm that a worker has raised until collections have shown what it is.
#ifndef RAPIDEYE_COORDINATOR_CORE_WORKER_ALARM_H_
#define RAPIDEYE_COORDINATOR_CORE_WORKER_ALARM_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// The name that a capture gives to the reason of the alarm.
std::string TriggerOf(wire::AlarmKind kind);

// An alarm is worth a few collections, one after another. False alarms start no more than one
// such series in kAlarmInterval.
class WorkerAlarm {
 public:
  struct Raised {
    wire::AlarmKind kind = wire::AlarmKind::kUnspecified;
    std::string why;  // for the log
  };

  // Ignored while another alarm is pending.
  void Raise(Raised raised, absl::Duration now);
  // The alarm for which a collection is due now; absent: none is due.
  std::optional<Raised> Due(absl::Duration now) const;

  // The collection for the alarm, if one is pending, has shown no hang.
  void FoundNoHang(absl::Duration now);
  // Alarms lead to no collection for a while.
  void HoldOff(absl::Duration now);
  // Drops the alarm: an incident or a restart of the job has settled it.
  void Clear() { pending_.reset(); }

 private:
  struct Pending {
    Raised raised;
    int tries = 0;  // collections that it is still worth
    absl::Duration due;
  };

  std::optional<Pending> pending_;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_WORKER_ALARM_H_

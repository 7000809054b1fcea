// Incidents of an earlier coordinator, as agents and the disk remember them.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void CoordinatorCore::On(IncidentsOnDisk& event) {
  if (event.pause.has_value() && pause_.Restore(*event.pause, now_)) {
    const PauseStatus restored = *pause_.Status(now_.monotonic);
    Warn(absl::StrFormat("the watch is paused, as the coordinator before was told by %s: %s",
                         restored.by, restored.reason));
  } else if (event.pause.has_value() && event.pause->until > now_.wall) {
    Warn(
        "the pause that the coordinator before has left ends later than any may; the job is "
        "watched");
  }
  job_.TakeOver(std::move(event.learnt));
  if (!acknowledged_.has_value()) acknowledged_ = std::move(event.acknowledged);
  if (event.open.has_value() && !told_.IsOf(*event.open)) {
    left_open_.emplace(*event.open, JobRecovery(now_.monotonic));
  }
  restart_.OnDisk(std::move(event.ids), std::move(event.unknown), std::move(event.verdicts));
}

void CoordinatorCore::On(const IncidentUnreadable& event) {
  restart_.OnUnreadable(event.incident_id);
  if (state_ != State::kConcluding || incident_id_ != event.incident_id) return;
  // A disk that did not answer may hold it whole: it is collected again under the
  // same name, the disk keeps what it has, and the log gets a digest. In the place
  // of a damaged one the new evidence would be lost: the hang gets another name.
  if (event.damaged) restart_.Clear();
  told_.repeated_unknown = false;
  state_ = State::kArmed;
  if (stopping_) CloseAll();
}

bool CoordinatorCore::Recall() {
  const std::optional<RestartRecovery::Decision> decision = restart_.Decide();
  if (!decision.has_value()) return false;
  if (!decision->confirmed) return true;  // the heartbeats are on their way
  if (decision->concluded && !decision->written && believed_once_) {
    restart_.Clear();
    return false;
  }
  ++job_.counters.recalled;
  if (decision->concluded) {
    RecallConcluded(decision->incident, decision->written);
  } else if (decision->written) {
    RecallWritten(decision->incident);
  } else {
    RecallBegun(decision->incident);
  }
  return true;
}

void CoordinatorCore::RecallConcluded(const std::string& incident, bool written) {
  Info(absl::StrFormat(
      "incident %s was concluded before this coordinator came; waiting for the job to recover",
      incident));
  state_ = State::kWaiting;
  incident_id_ = incident;
  told_.incident = incident;
  told_.verdict = restart_.VerdictOn(incident);
  recovery_ = JobRecovery(now_.monotonic);
  // Agents that lie could otherwise silence the job for good; one whose disk was lost gets a
  // second digest.
  if (!written) {
    believed_until_ = now_.monotonic + kBelieveUnwritten;
    believed_once_ = true;
  }
  alarm_.Clear();
  if (restart_.IsUnknown(incident)) looks_.Plan(incident, kLookAfterUnknown, now_.monotonic);
  TellAllConcluded();
  restart_.Clear();
}

void CoordinatorCore::RecallWritten(const std::string& incident) {
  Info(absl::StrFormat("incident %s was written before this coordinator came; repeating its digest",
                       incident));
  on_demand_.Abandon(effects_);  // those who asked are answered by the incident
  state_ = State::kConcluding;
  incident_id_ = incident;
  recovery_ = JobRecovery(now_.monotonic);
  told_.repeated_unknown = restart_.IsUnknown(incident);
  alarm_.Clear();
  Emit(Retell{incident});  // the votes stay, in case it cannot be read
}

void CoordinatorCore::RecallBegun(const std::string& incident) {
  // What raised it, and when, has gone with the other coordinator: said is what
  // holds now, as the ages in the evidence do.
  const std::optional<Standstill> standstill = job_.Judge(now_.monotonic);
  // A coordinator that has just come has not seen the job stand that long itself;
  // the ages in the evidence are measured against what would have raised it.
  Begin({.trigger = "no-progress",
         .why = absl::StrFormat("incident %s was begun before this coordinator came, and not "
                                "finished",
                                incident),
         .threshold = standstill.has_value() ? standstill->threshold : job_.LaunchThreshold(),
         .detected = now_,
         .incident = incident});
}

}  // namespace rapideye::coordinator

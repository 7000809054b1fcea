// Requests of operators: snapshots, the state of the job, pauses of the watch.
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"

namespace rapideye::coordinator {

void CoordinatorCore::On(const SnapshotRequested& event) {
  ++job_.counters.snapshots_requested;
  if (stopping_) {
    Emit(SnapshotRefused{event.ticket, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  on_demand_.Request(event.ticket, job_, effects_);
}

void CoordinatorCore::On(const StatusRequested& event) {
  JobStatus status = reporter_.Report(job_, CurrentActivity(), told_, looks_, now_.monotonic);
  status.pause = pause_.Status(now_.monotonic);
  if (acknowledged_.has_value() && status.last_incident == acknowledged_->incident_id) {
    status.acknowledged = acknowledged_->acknowledgement;
  }
  Emit(StatusReport{event.ticket, std::move(status)});
}

void CoordinatorCore::On(PauseRequested& event) {
  absl::Status status;
  if (stopping_) {
    status = absl::UnavailableError("the coordinator is stopping");
  } else if (event.duration == absl::ZeroDuration()) {
    status = pause_.End();
    if (status.ok()) Resume(absl::StrCat("ended by ", Quoted(event.by)));
  } else {
    status = pause_.Begin(event.duration, std::move(event.reason), std::move(event.by), now_);
    if (status.ok()) {
      const KeptPause pause = *pause_.Kept();
      Warn(absl::StrFormat("the watch is paused for %s, by %s: %s; nothing is raised meanwhile",
                           absl::FormatDuration(event.duration), pause.by, pause.reason));
      if (state_ == State::kCollecting) AbandonIncident("the watch was paused");
      alarm_.Clear();
      Emit(PauseChanged{pause});
    }
  }
  Emit(PauseAnswered{event.ticket, std::move(status), pause_.Status(now_.monotonic)});
}

void CoordinatorCore::On(IncidentAcknowledged& event) {
  const Acknowledgement& by = event.acknowledgement;
  Info(absl::StrCat("incident ", event.incident_id, ": acknowledged by ", by.by,
                    by.reason.empty() ? "" : ": ", by.reason));
  acknowledged_ = std::move(event);
}

void CoordinatorCore::Resume(const std::string& why) {
  Warn(absl::StrCat("the pause of the watch is over: ", why));
  const std::optional<Standstill> standstill = job_.Measure(now_.monotonic);
  judge_not_before_ =
      now_.monotonic + (standstill.has_value() ? standstill->threshold : job_.LaunchThreshold());
  if (state_ == State::kArmed) {
    alarmed_.clear();
    job_.learning.AfterIncident();
  }
  Emit(PauseChanged{std::nullopt});
}

Activity CoordinatorCore::CurrentActivity() const {
  if (state_ == State::kCollecting) return Activity::kCollecting;
  if (state_ == State::kConcluding) return Activity::kConcluding;
  if (state_ == State::kWaiting) return Activity::kWaiting;
  return job_.settled && job_.progress.LastCompletion().has_value() ? Activity::kArmed
                                                                    : Activity::kLearning;
}

}  // namespace rapideye::coordinator

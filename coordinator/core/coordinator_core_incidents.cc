// The core's part in an incident: begin, follow, abandon or conclude, recover.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void CoordinatorCore::Begin(Suspicion suspicion) {
  ++job_.counters.suspicions;
  if (!suspicion.incident.has_value())
    suspicion.incident = job_.NameIncident(suspicion.detected.wall);
  incident_id_ = *suspicion.incident;
  votes_.Clear();       // what agents remember of this one, they tell anew
  AbandonInspection();  // those who asked are answered by the incident
  const std::vector<Target> targets = job_.ConnectedWorkers();
  Warn(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                       job_.membership.Expected().size()));
  state_ = State::kCollecting;
  recovered_.clear();
  const int64_t number = job_.collections.TakePair();
  incident_.emplace(std::move(suspicion), targets, number, collect_deadline_, now_.monotonic,
                    effects_);
  FollowIncident();
}

void CoordinatorCore::ProbeFor(std::optional<Incident>& incident) {
  if (!incident.has_value() || !incident->WantsProbes()) return;
  incident->BeginProbes(job_.PlanProbes(*incident), now_.monotonic, effects_);
}

Incident* CoordinatorCore::CollectorOf(int64_t collection) {
  for (std::optional<Incident>* one : {&incident_, &inspection_}) {
    if (one->has_value() && (*one)->Owns(collection)) return &**one;
  }
  return nullptr;
}

void CoordinatorCore::FollowIncident() {
  if (!incident_.has_value()) return;
  if (incident_->state() == Incident::State::kDone && incident_->snapshots().empty()) {
    // Streams that are dead and do not know it yet look like a job that stands.
    AbandonIncident("no worker answered, so that nothing is known of the job");
  } else if (incident_->state() == Incident::State::kDone) {
    ConcludeIncident();
  } else if (incident_->state() == Incident::State::kRecovered) {
    ++job_.counters.recovered_in_between;
    AbandonIncident(incident_->why_recovered());
  }
}

void CoordinatorCore::NoteRecovery(const WorkerId& worker) {
  if (state_ == State::kCollecting) {
    // What a worker reported by itself is settled by the two looks; a lack of
    // progress by progress.
    if (incident_->suspicion().threshold.has_value() && !job_.Judge(now_.monotonic).has_value()) {
      ++job_.counters.recovered_in_between;
      AbandonIncident("launches complete again");
    }
    return;
  }
  // What a worker had completed before and only now can tell is no recovery.
  const std::optional<absl::Duration> completion = job_.progress.Find(worker)->last_completion;
  if (!completion.has_value() || *completion < recovery_from_) return;
  recovered_.insert(worker);
  if (state_ == State::kWaiting && recovered_.size() * 2 > job_.progress.Running()) {
    Rearm("most workers complete launches again");
  }
}

void CoordinatorCore::AbandonIncident(const std::string& why) {
  Info(absl::StrCat("no hang: ", why));
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  incident_->Abandon(effects_);
  const std::optional<absl::Duration> threshold = incident_->suspicion().threshold;
  incident_.reset();
  state_ = State::kArmed;
  judge_not_before_ = now_.monotonic + std::min(threshold.value_or(kAlarmRetry), kAlarmInterval);
  if (!alarm_.has_value() || threshold.has_value()) return;
  if (--alarm_->tries > 0) {
    alarm_->due = now_.monotonic + kAlarmRetry;
    return;
  }
  alarm_.reset();
  alarm_not_before_ = now_.monotonic + kAlarmInterval;
}

void CoordinatorCore::ConcludeIncident() {
  job_.counters.snapshots_over_budget += static_cast<int64_t>(incident_->over_budget());
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  const Suspicion& suspicion = incident_->suspicion();
  Emit(Conclude{.incident_id = incident_id_,
                .capture = job_.BuildCapture(*incident_),
                .detect_to_collect = incident_->started() - suspicion.detected.monotonic,
                .collect = now_.monotonic - incident_->started(),
                .hardware = job_.HardwareOfMissing(*incident_)});
  // After a worker's word the others may go on for a while with what they had
  // queued; after a threshold has passed whoever moves has recovered.
  its_incarnations_.clear();
  for (const auto& [worker, snapshot] : incident_->snapshots()) {
    std::optional<std::string> shown = job_.incarnation.LastGiven(worker);
    if (!shown.has_value()) shown = snapshot.incarnation;
    if (shown.has_value()) its_incarnations_[worker] = *std::move(shown);
  }
  recovery_from_ = now_.monotonic;
  if (!suspicion.threshold.has_value()) {
    recovery_from_ += job_.LaunchThreshold();
  }
  alarm_.reset();
  incident_.reset();
  state_ = State::kConcluding;
}

void CoordinatorCore::On(const IncidentConcluded& event) {
  if (state_ != State::kConcluding) return;
  texts_.reset();  // nobody waits for them
  votes_.Clear();
  if (!event.hang) {
    Info(absl::StrCat("no hang: the job makes progress, or there is none any more (",
                      event.incident_id, ")"));
    state_ = State::kArmed;
    judge_not_before_ = now_.monotonic + kAlarmInterval;
    alarm_not_before_ = now_.monotonic + kAlarmInterval;
    if (stopping_) CloseAll();
    return;
  }
  ++job_.counters.incidents;
  last_incident_ = event.incident_id;
  AnswerRequests(event.incident_id);
  state_ = State::kWaiting;
  TellAllConcluded();
  if (stopping_) {
    CloseAll();
    return;
  }
  if (recovered_.size() * 2 > job_.progress.Running())
    Rearm("most workers complete launches again");
}

void CoordinatorCore::Rearm(const std::string& why) {
  Info(absl::StrCat("watching again: ", why));
  state_ = State::kArmed;
  recovered_.clear();
  votes_.Clear();
  job_.learning.AfterIncident();
}

}  // namespace rapideye::coordinator

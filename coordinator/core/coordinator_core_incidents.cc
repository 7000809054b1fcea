#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

// An incident: begin, follow, abandon or conclude, recover ------------------------

void CoordinatorCore::Begin(Suspicion suspicion) {
  ++job_.counters.suspicions;
  if (!suspicion.incident.has_value()) {
    suspicion.incident = job_.NameIncident(suspicion.detected.wall);
  }
  incident_id_ = *suspicion.incident;
  restart_.Clear();              // what agents remember of this one, they tell anew
  on_demand_.Abandon(effects_);  // those who asked are answered by the incident
  const std::vector<Target> targets = job_.ConnectedWorkers();
  Warn(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                       job_.membership.Expected().size()));
  state_ = State::kCollecting;
  incident_.emplace(std::move(suspicion), targets, job_.collections.TakePair(), collect_deadline_,
                    now_.monotonic, effects_);
  FollowIncident();
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
  if (!recovery_.Observe(worker, job_.progress.Find(worker)->last_completion)) return;
  if (state_ == State::kWaiting && recovery_.MostRecovered(job_.progress.Running())) {
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
  if (!threshold.has_value()) alarm_.FoundNoHang(now_.monotonic);
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
  std::map<WorkerId, std::string> shown;
  for (const auto& [worker, snapshot] : incident_->snapshots()) {
    std::optional<std::string> key = job_.incarnation.LastGiven(worker);
    if (!key.has_value()) key = snapshot.incarnation;
    if (key.has_value()) shown[worker] = *std::move(key);
  }
  // After a worker's word the others may go on for a while with what they had
  // queued; after a threshold has passed whoever moves has recovered.
  absl::Duration from = now_.monotonic;
  if (!suspicion.threshold.has_value()) from += job_.LaunchThreshold();
  recovery_ = JobRecovery(from, std::move(shown));
  alarm_.Clear();
  incident_.reset();
  state_ = State::kConcluding;
}

void CoordinatorCore::On(const IncidentConcluded& event) {
  if (state_ != State::kConcluding) return;
  texts_.reset();  // nobody waits for them
  restart_.Clear();
  if (!event.hang) {
    Info(absl::StrCat("no hang: the job makes progress, or there is none any more (",
                      event.incident_id, ")"));
    state_ = State::kArmed;
    judge_not_before_ = now_.monotonic + kAlarmInterval;
    alarm_.HoldOff(now_.monotonic);
    if (stopping_) CloseAll();
    return;
  }
  ++job_.counters.incidents;
  last_incident_ = event.incident_id;
  on_demand_.AnswerAll(event.incident_id, effects_);
  state_ = State::kWaiting;
  TellAllConcluded();
  if (stopping_) {
    CloseAll();
    return;
  }
  if (recovery_.MostRecovered(job_.progress.Running())) {
    Rearm("most workers complete launches again");
  }
}

void CoordinatorCore::Rearm(const std::string& why) {
  Info(absl::StrCat("watching again: ", why));
  state_ = State::kArmed;
  restart_.Clear();
  job_.learning.AfterIncident();
}

// Not those whose worker goes on: they would remember what is over.
void CoordinatorCore::TellAllConcluded() {
  for (const auto& [id, member] : job_.membership.members()) {
    if (!recovery_.Recovered(id)) TellConcluded(member);
  }
}

void CoordinatorCore::TellConcluded(const Member& member) {
  const wire::Hello& hello = member.hello;
  if (!member.stream.has_value() || hello.protocol_version < 2) return;
  Emit(Send{*member.stream, wire::Concluded{.incident = incident_id_}});
}

}  // namespace rapideye::coordinator

// The core's part in taking up what a coordinator before it began or finished.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"

namespace rapideye::coordinator {

void CoordinatorCore::On(IncidentsOnDisk& event) {
  for (std::string& id : event.ids) on_disk_.insert(std::move(id));
}

void CoordinatorCore::On(const IncidentUnreadable& event) {
  on_disk_.erase(event.incident_id);
  if (state_ != State::kConcluding || incident_id_ != event.incident_id) return;
  // A disk that did not answer may hold it whole: it is collected again under the
  // same name, the disk keeps what it has, and the log gets a digest. In the place
  // of a damaged one the new evidence would be lost: the hang gets another name.
  if (event.damaged) votes_.Clear();
  state_ = State::kArmed;
  if (stopping_) CloseAll();
}

bool CoordinatorCore::RecallMayCome() const {
  if (!votes_.Any()) return false;
  return !settled_ || votes_.Decide(job_.membership.connected()).has_value();
}

bool CoordinatorCore::Recall() {
  const std::optional<RestartRecovery::Decision> decision =
      votes_.Decide(job_.membership.connected());
  if (!decision.has_value()) return false;
  if (!decision->confirmed) return true;  // the heartbeats are on their way
  ++job_.counters.recalled;
  if (decision->concluded) {
    RecallConcluded(decision->incident);
  } else {
    RecallBegun(decision->incident);
  }
  return true;
}

void CoordinatorCore::RecallConcluded(const std::string& incident) {
  Info(absl::StrFormat(
      "incident %s was concluded before this coordinator came; waiting for the job to recover",
      incident));
  state_ = State::kWaiting;
  incident_id_ = incident;
  last_incident_ = incident;
  recovered_.clear();
  recovery_from_ = now_.monotonic;
  its_incarnations_.clear();
  alarm_.reset();
  TellAllConcluded();
  votes_.Clear();
}

void CoordinatorCore::RecallBegun(const std::string& incident) {
  if (on_disk_.contains(incident)) {
    Info(absl::StrFormat(
        "incident %s was written before this coordinator came; repeating its digest", incident));
    AbandonInspection();  // those who asked are answered by the incident
    state_ = State::kConcluding;
    incident_id_ = incident;
    recovered_.clear();
    recovery_from_ = now_.monotonic;
    its_incarnations_.clear();
    alarm_.reset();
    Emit(Retell{incident});  // the votes stay, in case it cannot be read
    return;
  }
  // What raised it, and when, has gone with the other coordinator: said is what
  // holds now, as the ages in the evidence do.
  const std::optional<Stillness> stillness = job_.Judge(now_.monotonic);
  Suspicion suspicion{
      .trigger = "no-progress",
      .why = absl::StrFormat("incident %s was begun before this coordinator came, and not finished",
                             incident),
      .threshold = std::nullopt,
      .detected = now_,
      .incident = incident};
  // A coordinator that has just come has not seen the job stand that long itself;
  // the ages in the evidence are measured against what would have raised it.
  suspicion.threshold = stillness.has_value() ? stillness->threshold : job_.LaunchThreshold();
  Begin(std::move(suspicion));
}

// Not those whose worker goes on: they would remember what is over.
void CoordinatorCore::TellAllConcluded() {
  for (const auto& [id, member] : job_.membership.members()) {
    if (!recovered_.contains(id)) TellConcluded(member);
  }
}

void CoordinatorCore::TellConcluded(const Member& member) {
  const wire::Hello& hello = member.hello;
  if (!member.stream.has_value() || hello.protocol_version < 2) return;
  Emit(Send{*member.stream, wire::Concluded{.incident = incident_id_}});
}

}  // namespace rapideye::coordinator

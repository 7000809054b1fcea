// The core's part in an incident: begin, follow, abandon or conclude, recover.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void CoordinatorCore::Begin(Suspicion suspicion) {
  ++counters_.suspicions;
  if (!suspicion.incident.has_value()) suspicion.incident = NameIncident(suspicion.detected.wall);
  incident_id_ = *suspicion.incident;
  votes_.Clear();       // what agents remember of this one, they tell anew
  AbandonInspection();  // those who asked are answered by the incident
  const std::vector<Target> targets = ConnectedWorkers();
  Warn(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                       membership_.Expected().size()));
  state_ = State::kCollecting;
  recovered_.clear();
  const int64_t number = next_collection_;
  next_collection_ += 2;  // two looks
  incident_.emplace(std::move(suspicion), targets, number, options_.collect_deadline,
                    now_.monotonic, effects_);
  FollowIncident();
}

std::vector<Target> CoordinatorCore::ConnectedWorkers() const {
  std::vector<Target> targets;
  for (const auto& [id, member] : membership_.members()) {
    if (member.stream.has_value()) targets.push_back({id, *member.stream});
  }
  return targets;
}

void CoordinatorCore::ProbeFor(std::optional<Incident>& incident) {
  if (!incident.has_value() || !incident->WantsProbes()) return;
  incident->BeginProbes(PlanProbes({.snapshots = incident->snapshots(),
                                    .expected = membership_.Expected(),
                                    .addresses = addresses_,
                                    .stands_still = !incident->suspicion().to_the_end}),
                        now_.monotonic, effects_);
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
    ++counters_.recovered_in_between;
    AbandonIncident(incident_->why_recovered());
  }
}

void CoordinatorCore::NoteRecovery(const WorkerId& worker) {
  if (state_ == State::kCollecting) {
    // What a worker reported by itself is settled by the two looks; a lack of
    // progress by progress.
    if (incident_->suspicion().threshold.has_value() &&
        !progress_.Judge(options_.thresholds, learning_, now_.monotonic).has_value()) {
      ++counters_.recovered_in_between;
      AbandonIncident("launches complete again");
    }
    return;
  }
  // What a worker had completed before and only now can tell is no recovery.
  const std::optional<absl::Duration> completion = progress_.Find(worker)->last_completion;
  if (!completion.has_value() || *completion < recovery_from_) return;
  recovered_.insert(worker);
  if (state_ == State::kWaiting && recovered_.size() * 2 > progress_.Running()) {
    Rearm("most workers complete launches again");
  }
}

void CoordinatorCore::AbandonIncident(const std::string& why) {
  Info(absl::StrCat("no hang: ", why));
  counters_.probes_asked += static_cast<int64_t>(incident_->probes_asked());
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
  counters_.snapshots_over_budget += static_cast<int64_t>(incident_->over_budget());
  counters_.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  const Suspicion& suspicion = incident_->suspicion();
  Emit(Conclude{.incident_id = incident_id_,
                .capture = BuildCapture(*incident_),
                .detect_to_collect = incident_->started() - suspicion.detected.monotonic,
                .collect = now_.monotonic - incident_->started(),
                .hardware = HardwareOfMissing(*incident_)});
  // After a worker's word the others may go on for a while with what they had
  // queued; after a threshold has passed whoever moves has recovered.
  its_incarnations_.clear();
  for (const auto& [worker, snapshot] : incident_->snapshots()) {
    std::optional<std::string> shown = incarnation_.LastGiven(worker);
    if (!shown.has_value()) shown = snapshot.incarnation;
    if (shown.has_value()) its_incarnations_[worker] = *std::move(shown);
  }
  recovery_from_ = now_.monotonic;
  if (!suspicion.threshold.has_value()) {
    recovery_from_ += LaunchThreshold(options_.thresholds, learning_, std::nullopt);
  }
  alarm_.reset();
  incident_.reset();
  state_ = State::kConcluding;
}

std::string CoordinatorCore::NameIncident(absl::Time detected) const {
  const uint64_t hash =
      StableHash(absl::StrFormat("%s\n%s\n%d", membership_.job(), incarnation_.Id().value_or(""),
                                 absl::ToUnixNanos(detected)));
  return absl::StrFormat("%s-%08x",
                         absl::FormatTime("%Y%m%dT%H%M%SZ", detected, absl::UTCTimeZone()),
                         static_cast<uint32_t>(hash ^ (hash >> 32)));
}

Capture CoordinatorCore::BuildCapture(const Incident& incident) {
  const Suspicion& suspicion = incident.suspicion();
  Capture capture;
  CaptureHeader& header = capture.header;
  header.job = membership_.job();
  header.job_incarnation = incarnation_.Id();
  header.expected_workers = membership_.Expected();
  header.generation = membership_.Generation();
  header.trigger = suspicion.trigger;
  if (suspicion.threshold.has_value()) {
    header.hang_threshold_ms = absl::ToInt64Milliseconds(*suspicion.threshold);
  }
  if (suspicion.announced_pause.has_value()) {
    header.announced_pause_ms = absl::ToInt64Milliseconds(*suspicion.announced_pause);
  }
  header.detected_unix_ms = absl::ToUnixMillis(suspicion.detected.wall);
  learning_.ObserveModules(incident.named_programs());
  for (const auto& [worker, snapshot] : incident.snapshots()) {
    learning_.ObserveModules(snapshot.programs);
  }
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : header.expected_workers) workers.push_back(worker.id);
  header.cohorts = learning_.Cohorts(workers);
  for (const auto& [worker, collected] : incident.snapshots()) {
    Snapshot snapshot = collected;
    // Who a worker is was settled when it was admitted.
    const wire::Hello& hello = membership_.Find(worker)->hello;
    snapshot.host = hello.host;
    if (hello.node.has_value()) snapshot.node = hello.node;
    if (hello.pod.has_value()) snapshot.pod = hello.pod;
    if (hello.hardware.has_value()) snapshot.hardware = hello.hardware;
    for (Program& program : snapshot.programs) {
      if (!program.module.has_value()) program.module = learning_.ModuleOf(program.fingerprint);
    }
    capture.snapshots.push_back(std::move(snapshot));
  }
  return capture;
}

std::map<WorkerId, std::string> CoordinatorCore::HardwareOfMissing(const Incident& incident) const {
  std::map<WorkerId, std::string> hardware;
  for (const auto& [worker, member] : membership_.members()) {
    if (incident.snapshots().contains(worker) || !member.hello.hardware.has_value()) continue;
    hardware[worker] = *member.hello.hardware;
  }
  return hardware;
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
  ++counters_.incidents;
  last_incident_ = event.incident_id;
  AnswerRequests(event.incident_id);
  state_ = State::kWaiting;
  TellAllConcluded();
  if (stopping_) {
    CloseAll();
    return;
  }
  if (recovered_.size() * 2 > progress_.Running()) Rearm("most workers complete launches again");
}

void CoordinatorCore::Rearm(const std::string& why) {
  Info(absl::StrCat("watching again: ", why));
  state_ = State::kArmed;
  recovered_.clear();
  votes_.Clear();
  learning_.AfterIncident();
}

}  // namespace rapideye::coordinator

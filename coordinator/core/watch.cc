#include "coordinator/core/watch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

// The time when the worker last made progress; absent: not known.
std::optional<absl::Duration> LastSign(const WorkerProgress& known) {
  const bool by_work = !known.Shown() && known.active_at.has_value();
  return by_work ? known.active_at : known.last_completion;
}

}  // namespace

Watch::Watch(WatchedJob& job, Turn& turn, absl::Duration collect_deadline)
    : job_(job), turn_(turn), collect_deadline_(collect_deadline), on_demand_(collect_deadline) {}

absl::Duration Watch::NextWake() const {
  absl::Duration wake = pause_.NextWake();
  for (const std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) wake = std::min(wake, (*one)->NextWake());
  }
  if (texts_.has_value()) wake = std::min(wake, texts_->NextWake());
  return wake;
}

// Workers ------------------------------------------------------------------------

void Watch::OnHello(const Member& member, StreamId stream, const std::string& voter) {
  const wire::Hello& hello = member.hello;
  const bool start_up_waited = state_ == State::kWaiting && about_start_up_;
  if (start_up_waited && job_.NotCome().empty()) Rearm("everybody has come");
  restart_.OnHello(hello.worker, hello.incident, voter);
  if (Incident* one = Collecting()) {
    one->OnJoin({hello.worker, stream, job_.progress.PartOf(hello.worker)}, turn_.monotonic(),
                turn_.effects());
  }
  if (state_ == State::kWaiting && !recovery_.Recovered(hello.worker)) TellConcluded(member);
}

void Watch::OnLeave(const WorkerId& worker) {
  restart_.OnLeave(worker, turn_.monotonic());
  OnSuperseded(worker);
}

void Watch::OnSuperseded(const WorkerId& worker) {
  if (Incident* one = Collecting()) one->OnLeave(worker, turn_.monotonic(), turn_.effects());
  if (texts_.has_value()) texts_->OnLeave(worker, turn_.monotonic(), turn_.effects());
}

void Watch::OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool advanced) {
  restart_.OnHeartbeat(worker, heartbeat, advanced);
  if (advanced) FollowLeftOpen(worker);
  if (state_ == State::kArmed) {
    if (pause_.lasts()) return;  // a job that is not watched gives no health to learn from
    if (const auto took = job_.progress.Find(worker)->step_took) {
      job_.learning.ObserveStep(worker, *took);
    }
    job_.learning.Observe(worker, heartbeat, advanced);
  } else if (advanced) {
    NoteRecovery(worker);
  }
}

void Watch::OnAlarm(const WorkerId& worker, WorkerAlarm::Raised raised) {
  if (raised.kind != wire::AlarmKind::kProcessExit) {
    alarmed_.insert(worker);
    if (incident_.has_value()) incident_->OnAlarm(worker);
  }
  if (state_ == State::kArmed && !pause_.lasts())
    alarm_.Raise(std::move(raised), turn_.monotonic());
}

// Only one of the two exists: an incident ends the snapshot on demand.
Incident* Watch::Collecting() {
  for (std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) return &**one;
  }
  return nullptr;
}

Incident* Watch::CollectionOf(int64_t number) {
  Incident* one = Collecting();
  return one != nullptr && one->Owns(number) ? one : nullptr;
}

absl::Status Watch::OnReply(const Member& member, MessageReceived& event) {
  const WorkerId worker = member.hello.worker;
  const absl::Duration now = turn_.monotonic();
  Effects& effects = turn_.effects();
  int64_t collection = 0;
  if (const auto* ready = std::get_if<wire::SampleReady>(&event.message)) {
    collection = ready->collection;
    if (Incident* one = CollectionOf(collection)) return one->OnReady(worker, *ready, now, effects);
  } else if (auto* snapshot = std::get_if<wire::SnapshotReply>(&event.message)) {
    collection = snapshot->collection;
    if (Incident* one = CollectionOf(collection)) {
      Attribute(member, snapshot->snapshot);
      return one->OnSnapshot(worker, std::move(*snapshot), event.bytes, now, effects);
    }
  } else if (const auto* hlo = std::get_if<wire::HloReply>(&event.message)) {
    collection = hlo->collection;
    if (Incident* one = CollectionOf(collection)) return one->OnHlo(worker, *hlo, now, effects);
  } else if (auto* text = std::get_if<wire::ModuleTextReply>(&event.message)) {
    collection = text->collection;
    if (texts_.has_value() && texts_->number() == collection) {
      return texts_->OnReply(worker, std::move(*text), now, effects);
    }
  } else if (const auto* probes = std::get_if<wire::ProbeReply>(&event.message)) {
    collection = probes->collection;
    if (Incident* one = CollectionOf(collection)) {
      return one->OnProbes(worker, *probes, now, effects);
    }
  }
  // An answer to a collection that has ended may still be on its way; an answer to a
  // collection that never was is an offence.
  if (!job_.collections.Given(collection)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("collection: %d was never begun", collection));
  }
  return absl::OkStatus();
}

void Watch::OnJobRestart() {
  restart_.Clear();
  alarm_.Clear();
  looks_.Clear();
  EndTexts("the job has restarted, and dumps anew");
  if (incident_.has_value()) AbandonIncident("the job has restarted");
  on_demand_.Abandon(turn_.effects());  // callers get a snapshot of the job as it is now
  if (recovery_.IsAbout(job_.incarnation)) return;
  if (state_ == State::kWaiting) {
    Rearm("the job has restarted");
  } else if (state_ == State::kConcluding) {
    recovery_.RecoverAll(job_.membership);
  }
}

// Suspicion ----------------------------------------------------------------------

void Watch::FollowCollections() {
  if (pause_.TakeOver(turn_.monotonic())) Resume("its time is over");
  if (stopping_) return;
  restart_.Follow(turn_.monotonic());
  if (incident_.has_value()) incident_->OnTick(turn_.monotonic(), turn_.effects());
  FollowIncident();
  FollowTexts();
  if (state_ == State::kArmed) FollowAlarm();
}

bool Watch::FollowWaiting() {
  if (pause_.lasts()) return false;
  if (state_ == State::kWaiting) LookAgain();
  if (state_ == State::kWaiting && turn_.monotonic() >= believed_until_) {
    Rearm("this disk does not have the incident that agents remember");
  }
  return state_ == State::kArmed;
}

void Watch::Survey() {
  const absl::Duration now = turn_.monotonic();
  for (std::string& text : job_.RetireLeavers(now)) turn_.Info(std::move(text));
  const bool settled = job_.UpdateSettled(now);
  if (auto pauses = job_.PausesToKeep(now)) turn_.Emit(PausesLearnt{*std::move(pauses)});
  if (!settled || now < judge_not_before_ || Recall()) return;
  Judge();
}

void Watch::FollowRequests() {
  if (!stopping_) {
    // During an incident the requests for a snapshot wait: its end answers them.
    const bool may_begin = state_ == State::kArmed || state_ == State::kWaiting;
    on_demand_.Follow(may_begin, job_, turn_.now(), turn_.effects());
    Incident* collecting = Collecting();
    if (collecting != nullptr && collecting->WantsProbes()) {
      collecting->BeginProbes(job_.PlanProbes(*collecting), turn_.monotonic(), turn_.effects());
    }
  }
  // A further look at the hang does not end it.
  job_.lost_time.Follow(state_ != State::kArmed && Told(), turn_.monotonic());
}

// Waits until most other agents are there, or had the time to come: a coordinator that starts with
// its job would otherwise take the end of the old processes for the end of a new one.
void Watch::FollowAlarm() {
  const std::optional<WorkerAlarm::Raised> raised = alarm_.Due(turn_.monotonic());
  if (!raised.has_value()) return;
  const bool settled = job_.UpdateSettled(turn_.monotonic());
  if (!settled && !job_.membership.MostAreThere()) return;
  if (restart_.MayDecide(settled)) return;
  const std::optional<Standstill> standstill = job_.Judge(turn_.monotonic());
  const bool most_stand = standstill.has_value() && standstill->most_stand;
  const auto last = job_.progress.LastCompletion();
  Suspicion suspicion{.trigger = TriggerOf(raised->kind),
                      .why = raised->why,
                      .threshold = std::nullopt,
                      .detected = turn_.now()};
  if (last.has_value()) suspicion.still_for = turn_.monotonic() - *last;
  suspicion.most_stand = most_stand;
  // The alarm is about the standstill that has been looked at.
  if (looks_.open() && standstill.has_value()) suspicion.incident = looks_.incident();
  Begin(std::move(suspicion));
}

void Watch::Judge() {
  std::optional<Standstill> standstill = job_.Judge(turn_.monotonic());
  if (!standstill.has_value()) looks_.Clear();
  if (looks_.open() && !looks_.Due(turn_.monotonic())) return;
  if (!standstill.has_value()) {
    if (turn_.monotonic() < job_.start_up_not_before) return;
    standstill = job_.JudgeStartUp(turn_.monotonic());
    job_.start_up_not_before =
        turn_.monotonic() +
        (standstill.has_value() ? job_.thresholds.startup_grace : kStartUpJudgePeriod);
    if (!standstill.has_value()) return;
  }
  Suspicion suspicion = SuspicionOf(*standstill, turn_.now());
  if (looks_.open()) suspicion.incident = looks_.incident();
  Begin(std::move(suspicion));
}

// Looks only at a standstill: workers that have gone, or a few that advance, add no evidence.
void Watch::LookAgain() {
  // Evidence from before the last launch completed need not explain why the job stands now.
  if (!looks_.open() && job_.Judge(turn_.monotonic()).has_value() &&
      recovery_.TakeUnseenStandstill(job_.progress.LastCompletion())) {
    looks_.Plan(incident_id_, absl::ZeroDuration(), turn_.monotonic());
  }
  if (!looks_.Due(turn_.monotonic())) return;
  const std::optional<Standstill> standstill = job_.Judge(turn_.monotonic());
  if (!standstill.has_value()) {
    return looks_.Plan(incident_id_, kLookAfterUnknown, turn_.monotonic());
  }
  Suspicion suspicion = SuspicionOf(*standstill, turn_.now());
  suspicion.incident = incident_id_;
  Begin(std::move(suspicion));
}

// An incident: begin, follow, abandon or conclude --------------------------------

void Watch::Begin(Suspicion suspicion) {
  ++job_.counters.suspicions;
  if (!suspicion.incident.has_value()) {
    suspicion.incident = job_.NameIncident(suspicion.detected.wall);
  }
  incident_id_ = *suspicion.incident;
  if (looks_.open() && looks_.incident() == incident_id_) {
    ++job_.counters.further_looks;
    turn_.Info(absl::StrFormat("looking again at incident %s (%d of at most %d times)",
                               incident_id_, std::min(looks_.looks(), kMaxLooks), kMaxLooks));
  }
  restart_.Clear();                     // agents tell anew what they remember of it
  on_demand_.Abandon(turn_.effects());  // the incident answers the callers
  const std::vector<Target> targets = job_.ConnectedWorkers();
  turn_.Warn(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                             job_.membership.Expected().size()));
  state_ = State::kCollecting;
  incident_.emplace(std::move(suspicion), targets, job_.collections.TakePair(), collect_deadline_,
                    turn_.monotonic(), turn_.effects());
  for (const WorkerId& worker : alarmed_) incident_->OnAlarm(worker);
  FollowIncident();
}

void Watch::FollowIncident() {
  if (!incident_.has_value()) return;
  if (incident_->state() == Incident::State::kDone && incident_->snapshots().empty()) {
    // To a coordinator, streams that are dead unnoticed look like a job that stands.
    AbandonIncident("no worker answered, so that nothing is known of the job");
  } else if (incident_->state() == Incident::State::kDone) {
    ConcludeIncident();
  } else if (incident_->state() == Incident::State::kRecovered) {
    ++job_.counters.recovered_in_between;
    AbandonIncident(incident_->why_recovered());
  }
}

void Watch::AbandonIncident(const std::string& why) {
  turn_.Info(absl::StrCat(Told() ? "the further look has ended: " : "no hang: ", why));
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  incident_->Abandon(turn_.effects());
  const std::optional<absl::Duration> threshold = incident_->suspicion().threshold;
  incident_.reset();
  if (looks_.open()) looks_.Plan(incident_id_, kLookAfterNoHang, turn_.monotonic());
  if (Told()) {
    state_ = State::kWaiting;
    if (!stopping_) TellAllConcluded();  // also the agents that have come meanwhile
    return;
  }
  state_ = State::kArmed;
  judge_not_before_ = turn_.monotonic() + std::min(threshold.value_or(kAlarmRetry), kAlarmInterval);
  if (!threshold.has_value()) alarm_.FoundNoHang(turn_.monotonic());
  alarmed_.clear();
}

void Watch::ConcludeIncident() {
  job_.counters.snapshots_over_budget += static_cast<int64_t>(incident_->over_budget());
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  const Suspicion& suspicion = incident_->suspicion();
  const bool again = Told();
  if (!again) {
    const absl::Duration still = suspicion.still_for.value_or(absl::ZeroDuration());
    job_.lost_time.Suspect(suspicion.detected.monotonic - still,
                           CountChips(incident_->snapshots(), job_.membership.Expected().size()));
  }
  turn_.Emit(Conclude{.incident_id = incident_id_,
                      .capture = job_.BuildCapture(*incident_),
                      .detect_to_collect = incident_->started() - suspicion.detected.monotonic,
                      .collect = turn_.monotonic() - incident_->started(),
                      .hardware = job_.HardwareOfMissing(*incident_),
                      .hosts = job_.HostsIn(*incident_),
                      .again = again,
                      .detection = again ? std::nullopt : suspicion.still_for});
  alarm_.Clear();
  if (again) {
    // The first look has settled from when on the job has recovered, and which job it is.
    incident_.reset();
    state_ = State::kConcluding;
    return;
  }
  std::map<WorkerId, std::string> shown = job_.ShownIn(*incident_);
  // After an alarm of a worker the others may go on for a while with their queued launches;
  // after a threshold has passed, a worker that completes a launch has recovered.
  const absl::Duration now = turn_.monotonic();
  const bool stood = suspicion.threshold.has_value();
  const bool most_shown = 2 * incident_->snapshots().size() > job_.membership.Expected().size();
  recovery_ = JobRecovery(stood ? now : now + job_.LaunchThreshold(), std::move(shown),
                          stood && most_shown ? absl::InfiniteDuration() : now);
  about_start_up_ = job_.StartingFor(turn_.monotonic()).has_value() && !job_.NotCome().empty();
  alarm_.Clear();
  alarmed_.clear();
  incident_.reset();
  state_ = State::kConcluding;
}

void Watch::On(const IncidentConcluded& event) {
  if (state_ != State::kConcluding) return;
  texts_.reset();  // no longer needed
  restart_.Clear();
  const bool told = Told();
  const bool unknown = event.unknown || std::exchange(told_.repeated_unknown, false);
  looks_.Follow(event, unknown, told, job_.Judge(turn_.monotonic()).has_value(), turn_.monotonic());
  if (!event.hang && !told) {
    turn_.Info(absl::StrCat("no hang: the job makes progress, or there is none any more (",
                            event.incident_id, ")"));
    state_ = State::kArmed;
    judge_not_before_ = looks_.open() ? looks_.next() : turn_.monotonic() + kAlarmInterval;
    alarm_.HoldOff(turn_.monotonic());
    return;
  }
  if (!told) ++job_.counters.incidents;
  // At most one incident is left open at a time.
  if (left_open_.has_value() && left_open_->first != event.incident_id) {
    EndIncident(left_open_->first, "another incident of the job has followed");
  }
  if (event.verdict.has_value()) {
    told_.verdict = event.verdict;
  } else if (!told) {
    told_.verdict = restart_.VerdictOn(event.incident_id);
  }
  told_.incident = event.incident_id;
  if (event.hang) told_.revision = event.revision;
  on_demand_.AnswerAll(event.incident_id, turn_.effects());
  state_ = State::kWaiting;
  TellAllConcluded();
  if (!stopping_ && recovery_.MostRecovered(job_.progress.Told(), job_.progress.hosts())) {
    Rearm("most workers complete launches again");
  }
}

void Watch::Stop() {
  stopping_ = true;
  on_demand_.Abandon(turn_.effects());
  EndTexts("the coordinator was stopping");
  on_demand_.RefuseAll(absl::UnavailableError("the coordinator is stopping"), turn_.effects());
  const bool conclude = incident_.has_value() && !incident_->snapshots().empty() && !Told();
  if (conclude) {
    turn_.Warn("asked to stop during an incident; concluding with what there is");
    ConcludeIncident();
  } else if (incident_.has_value()) {
    AbandonIncident(Told() ? "asked to stop" : "asked to stop before any worker answered");
  }
}

// Recovery -----------------------------------------------------------------------

// Until all workers had the time to come, the few that are there are no majority.
void Watch::FollowLeftOpen(const WorkerId& worker) {
  if (!left_open_.has_value()) return;
  auto& [id, recovery] = *left_open_;
  if (!recovery.Observe(worker, LastSign(*job_.progress.Find(worker)))) return;
  if (!job_.settled || !recovery.MostRecovered(job_.progress.Told(), job_.progress.hosts())) return;
  EndIncident(id, "most workers complete launches again");
}

void Watch::NoteRecovery(const WorkerId& worker) {
  if (state_ == State::kCollecting && !Told()) {
    // The two rounds settle an alarm that a worker raised by itself; progress settles an alarm
    // about a lack of progress.
    if (incident_->suspicion().threshold.has_value() &&
        !job_.Judge(turn_.monotonic()).has_value()) {
      ++job_.counters.recovered_in_between;
      AbandonIncident("launches complete again");
    }
    return;
  }
  if (!recovery_.Observe(worker, LastSign(*job_.progress.Find(worker)))) return;
  if (!recovery_.MostRecovered(job_.progress.Told(), job_.progress.hosts())) return;
  if (state_ == State::kCollecting) AbandonIncident("most workers complete launches again");
  if (state_ == State::kWaiting) Rearm("most workers complete launches again");
}

void Watch::Rearm(const std::string& why) {
  turn_.Info(absl::StrCat("watching again: ", why));
  // An incident that agents remember, and this disk does not have, ends only while it is believed.
  if (Told() && turn_.monotonic() < believed_until_) EndIncident(incident_id_, why);
  state_ = State::kArmed;
  looks_.Clear();
  believed_until_ = absl::InfiniteDuration();
  alarmed_.clear();
  restart_.Clear();
  job_.learning.AfterIncident();
}

void Watch::EndIncident(const std::string& id, const std::string& why) {
  const EndedIncident ended{id, turn_.now().wall, why};
  if (left_open_.has_value() && left_open_->first == ended.id) left_open_.reset();
  if (!job_.ended.empty() && job_.ended.back().id == ended.id) return;
  if (job_.ended.size() == kMaxEndedIncidents) job_.ended.erase(job_.ended.begin());
  job_.ended.push_back(ended);
  turn_.Emit(IncidentEnded{.incident = ended, .job = job_.membership.job()});
}

// Tells all agents but those whose worker goes on: they would remember an incident that is over.
void Watch::TellAllConcluded() {
  for (const auto& [id, member] : job_.membership.members()) {
    if (!recovery_.Recovered(id)) TellConcluded(member);
  }
}

void Watch::TellConcluded(const Member& member) {
  const wire::Hello& hello = member.hello;
  if (!member.stream.has_value() || hello.protocol_version < 2) return;
  turn_.Emit(Send{*member.stream, wire::Concluded{.incident = incident_id_}});
}

// Texts of diverged programs, which workers are asked for in an incident -------------

void Watch::On(TextsWanted& event) {
  const bool wanted = !stopping_ && state_ == State::kConcluding &&
                      event.incident_id == incident_id_ && !texts_.has_value();
  std::vector<TextCandidates> candidates;
  for (ProgramSide& side : event.sides) {
    TextCandidates& one = candidates.emplace_back();
    for (const WorkerId& worker : side.workers) {
      const Member* member = job_.membership.Find(worker);
      if (!wanted || member == nullptr || !member->stream.has_value() || !member->hello.hlo_dumps) {
        continue;
      }
      one.targets.push_back({worker, *member->stream});
    }
    one.side = std::move(side);
  }
  ModuleTexts texts(event.incident_id, std::move(candidates), job_.collections.TakePair(),
                    turn_.monotonic(), turn_.effects());
  if (wanted) {
    texts_.emplace(std::move(texts));
    FollowTexts();
  } else {
    turn_.Emit(texts.Take("", turn_.effects()));
  }
}

void Watch::FollowTexts() {
  if (texts_.has_value() && texts_->Done(turn_.monotonic())) EndTexts("");
}

void Watch::EndTexts(const std::string& why) {
  if (!texts_.has_value()) return;
  TextsGathered gathered = texts_->Take(why, turn_.effects());
  texts_.reset();
  turn_.Emit(std::move(gathered));
}

// Incidents of an earlier coordinator, as agents and the disk remember them ---------

void Watch::On(IncidentsOnDisk& event) {
  if (event.pause.has_value() && pause_.Restore(*event.pause, turn_.now())) {
    const PauseStatus restored = *pause_.Status(turn_.monotonic());
    turn_.Warn(absl::StrFormat("the watch is paused, as the coordinator before was told by %s: %s",
                               restored.by, restored.reason));
  } else if (event.pause.has_value() && event.pause->until > turn_.now().wall) {
    turn_.Warn(
        "the pause that the coordinator before has left ends later than any may; the job is "
        "watched");
  }
  job_.TakeOver(std::move(event.learnt));
  if (!acknowledged_.has_value()) acknowledged_ = std::move(event.acknowledged);
  if (event.open.has_value() && !told_.IsOf(*event.open)) {
    left_open_.emplace(*event.open, JobRecovery(turn_.monotonic()));
  }
  restart_.OnDisk(std::move(event.ids), std::move(event.unknown), std::move(event.verdicts));
}

void Watch::On(const IncidentUnreadable& event) {
  restart_.OnUnreadable(event.incident_id);
  if (state_ != State::kConcluding || incident_id_ != event.incident_id) return;
  // A disk that did not answer may hold the whole incident: it is collected again under the
  // same name, the disk keeps its copy, and the log gets a digest. Under the name of a damaged
  // incident the new evidence would be lost: the hang gets another name.
  if (event.damaged) restart_.Clear();
  told_.repeated_unknown = false;
  state_ = State::kArmed;
}

bool Watch::Recall() {
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

void Watch::RecallConcluded(const std::string& incident, bool written) {
  turn_.Info(absl::StrFormat(
      "incident %s was concluded before this coordinator came; waiting for the job to recover",
      incident));
  state_ = State::kWaiting;
  incident_id_ = incident;
  told_.incident = incident;
  told_.verdict = restart_.VerdictOn(incident);
  recovery_ = JobRecovery(turn_.monotonic());
  // Agents that lie could otherwise silence the job for good; an incident whose disk was lost gets
  // a second digest.
  if (!written) {
    believed_until_ = turn_.monotonic() + kBelieveUnwritten;
    believed_once_ = true;
  }
  alarm_.Clear();
  if (restart_.IsUnknown(incident)) looks_.Plan(incident, kLookAfterUnknown, turn_.monotonic());
  TellAllConcluded();
  restart_.Clear();
}

void Watch::RecallWritten(const std::string& incident) {
  turn_.Info(absl::StrFormat(
      "incident %s was written before this coordinator came; repeating its digest", incident));
  on_demand_.Abandon(turn_.effects());  // the incident answers the callers
  state_ = State::kConcluding;
  incident_id_ = incident;
  recovery_ = JobRecovery(turn_.monotonic());
  told_.repeated_unknown = restart_.IsUnknown(incident);
  alarm_.Clear();
  turn_.Emit(Retell{incident});  // the votes stay, in case the disk cannot read it
}

void Watch::RecallBegun(const std::string& incident) {
  // The reason and time of the alarm were lost with the other coordinator: this states what
  // holds now, as the ages in the evidence do.
  const std::optional<Standstill> standstill = job_.Judge(turn_.monotonic());
  // A coordinator that has just come has not seen the job stand for so long itself; the ages
  // in the evidence are measured against the threshold that would have raised the alarm.
  Begin({.trigger = "no-progress",
         .why = absl::StrFormat("incident %s was begun before this coordinator came, and not "
                                "finished",
                                incident),
         .threshold = standstill.has_value() ? standstill->threshold : job_.LaunchThreshold(),
         .detected = turn_.now(),
         .incident = incident});
}

// Requests of operators -----------------------------------------------------------

void Watch::On(const SnapshotRequested& event) {
  ++job_.counters.snapshots_requested;
  if (stopping_) {
    turn_.Emit(
        SnapshotRefused{event.ticket, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  on_demand_.Request(event.ticket, job_, turn_.effects());
}

void Watch::On(const StatusRequested& event) {
  JobStatus status = reporter_.Report(job_, CurrentActivity(), told_, looks_, turn_.monotonic());
  status.pause = pause_.Status(turn_.monotonic());
  if (acknowledged_.has_value() && status.last_incident == acknowledged_->incident_id) {
    status.acknowledged = acknowledged_->acknowledgement;
  }
  turn_.Emit(StatusReport{event.ticket, std::move(status)});
}

void Watch::On(PauseRequested& event) {
  absl::Status status;
  if (stopping_) {
    status = absl::UnavailableError("the coordinator is stopping");
  } else if (event.duration == absl::ZeroDuration()) {
    status = pause_.End();
    if (status.ok()) Resume(absl::StrCat("ended by ", Quoted(event.by)));
  } else {
    status =
        pause_.Begin(event.duration, std::move(event.reason), std::move(event.by), turn_.now());
    if (status.ok()) {
      const KeptPause pause = *pause_.Kept();
      turn_.Warn(
          absl::StrFormat("the watch is paused for %s, by %s: %s; nothing is raised meanwhile",
                          absl::FormatDuration(event.duration), pause.by, pause.reason));
      if (state_ == State::kCollecting) AbandonIncident("the watch was paused");
      alarm_.Clear();
      turn_.Emit(PauseChanged{pause});
    }
  }
  turn_.Emit(PauseAnswered{event.ticket, std::move(status), pause_.Status(turn_.monotonic())});
}

void Watch::On(IncidentAcknowledged& event) {
  const Acknowledgement& by = event.acknowledgement;
  turn_.Info(absl::StrCat("incident ", event.incident_id, ": acknowledged by ", by.by,
                          by.reason.empty() ? "" : ": ", by.reason));
  acknowledged_ = std::move(event);
}

void Watch::Resume(const std::string& why) {
  turn_.Warn(absl::StrCat("the pause of the watch is over: ", why));
  const std::optional<Standstill> standstill = job_.Measure(turn_.monotonic());
  judge_not_before_ =
      turn_.monotonic() + (standstill.has_value() ? standstill->threshold : job_.LaunchThreshold());
  if (state_ == State::kArmed) {
    alarmed_.clear();
    job_.learning.AfterIncident();
  }
  turn_.Emit(PauseChanged{std::nullopt});
}

Activity Watch::CurrentActivity() const {
  if (state_ == State::kCollecting) return Activity::kCollecting;
  if (state_ == State::kConcluding) return Activity::kConcluding;
  if (state_ == State::kWaiting) return Activity::kWaiting;
  return job_.settled && job_.progress.LastCompletion().has_value() ? Activity::kArmed
                                                                    : Activity::kLearning;
}

}  // namespace rapideye::coordinator

#include "coordinator/core/coordinator_core.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

CoordinatorCore::CoordinatorCore(Options options)
    : job_(std::move(options.shape), options.thresholds, std::move(options.identity)),
      collect_deadline_(options.collect_deadline),
      streams_(job_.membership.CertificatesNameWorkers()),
      on_demand_(options.collect_deadline),
      attention_after_(job_.AttentionAfter()) {}

Effects CoordinatorCore::Step(Event event, const Instant& now) {
  now_ = now;
  effects_.clear();
  std::visit([this](auto& e) { On(e); }, event);
  if (pause_.TakeOver(now_.monotonic)) Resume("its time is over");
  if (!stopping_) {
    if (incident_.has_value()) incident_->OnTick(now_.monotonic, effects_);
    FollowIncident();
    FollowTexts();
    if (state_ == State::kArmed) FollowAlarm();
    Survey();
    // During an incident its end answers those who ask for a snapshot.
    const bool may_begin = state_ == State::kArmed || state_ == State::kWaiting;
    on_demand_.Follow(may_begin, job_, now_, effects_);
    Incident* collecting = Collecting();
    if (collecting != nullptr && collecting->WantsProbes()) {
      collecting->BeginProbes(job_.PlanProbes(*collecting), now_.monotonic, effects_);
    }
  }
  // A further look at the hang does not end it.
  job_.lost_time.Follow(state_ != State::kArmed && told_.IsOf(incident_id_), now_.monotonic);
  return std::exchange(effects_, {});
}

absl::Duration CoordinatorCore::NextWake(absl::Duration now) const {
  if (stopping_) return absl::InfiniteDuration();
  absl::Duration wake = streams_.empty() ? absl::InfiniteDuration() : std::max(now, next_survey_);
  for (const std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) wake = std::min(wake, (*one)->NextWake());
  }
  if (texts_.has_value()) wake = std::min(wake, texts_->NextWake());
  return std::min(wake, pause_.NextWake());
}

// Never both: an incident ends the snapshot on demand.
Incident* CoordinatorCore::Collecting() {
  for (std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) return &**one;
  }
  return nullptr;
}

// Streams ----------------------------------------------------------------------

void CoordinatorCore::On(const StreamOpened& event) {
  if (stopping_) {
    Emit(Close{event.stream, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  if (streams_.Crowded(event)) {
    ++job_.counters.streams_refused;
    WarnOfPeer(absl::StrFormat("refused a stream at %s: its host, or its certificate, has too many",
                               Quoted(event.peer)));
    Emit(Close{event.stream, absl::ResourceExhaustedError(absl::StrFormat(
                                 "more than %d streams of one host, or %d of one certificate; an "
                                 "agent has one",
                                 kMaxStreamsOfHost, kMaxStreamsOfCertificate))});
    return;
  }
  streams_.Open(event, now_.monotonic);
}

void CoordinatorCore::On(const StreamRefused& event) {
  ++job_.counters.streams_refused;
  WarnOfPeer(absl::StrFormat("refused a stream at %s: %s", Quoted(event.peer),
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamCutOff& event) {
  ++job_.counters.cut_off;
  if (!streams_.Contains(event.stream)) return;
  WarnOfPeer(absl::StrFormat("cut off the stream at %s: %s",
                             streams_.DebugName(event.stream, job_.membership),
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamClosed& event) { Drop(event.stream, /*log=*/true); }

void CoordinatorCore::Drop(StreamId stream, bool log) {
  streams_.Erase(stream);
  const std::optional<WorkerId> worker = job_.membership.Leave(stream);
  if (!worker.has_value()) return;
  all_connected_ = false;
  job_.progress.Disconnected(*worker);
  job_.Left(*worker, now_.monotonic);
  restart_.OnLeave(*worker);
  LeaveCollections(*worker);
  if (log) {
    TellOfPeer(absl::StrFormat("%s disconnected (%d connected)",
                               DebugName(*job_.membership.Find(*worker)),
                               job_.membership.connected()));
  }
}

void CoordinatorCore::LeaveCollections(const WorkerId& worker) {
  if (Incident* one = Collecting()) one->OnLeave(worker, now_.monotonic, effects_);
  if (texts_.has_value()) texts_->OnLeave(worker, now_.monotonic, effects_);
}

void CoordinatorCore::Refuse(StreamId stream, const absl::Status& status) {
  WarnOfPeer(absl::StrFormat("closed the stream at %s: %s",
                             streams_.DebugName(stream, job_.membership),
                             Quoted(std::string(status.message()))));
  Emit(Close{stream, status});
  Drop(stream, /*log=*/false);
}

void CoordinatorCore::WarnOfPeer(const std::string& text) {
  streams_.Warn(text, now_.monotonic, job_.counters.unlogged_lines, effects_);
}

void CoordinatorCore::CloseSilentStreams() {
  for (const PeerStreams::Overdue& one : streams_.FindOverdue(job_.membership, now_.monotonic)) {
    ++(one.nameless ? job_.counters.hello_timeouts : job_.counters.silent_streams);
    Refuse(one.stream, one.status);
  }
}

void CoordinatorCore::TellOfPeer(const std::string& text) {
  streams_.Tell(text, now_.monotonic, job_.counters.unlogged_lines, effects_);
}

bool CoordinatorCore::TakeToken(StreamId stream) {
  const absl::Status status = streams_.CountMessage(stream, now_.monotonic);
  if (status.ok()) return true;
  ++job_.counters.floods;
  Refuse(stream, status);
  return false;
}

void CoordinatorCore::CloseAll() {
  streams_.CloseAll(absl::UnavailableError("the coordinator is stopping"), effects_);
}

// Messages ---------------------------------------------------------------------

void CoordinatorCore::On(const MessageSkipped& event) {
  if (streams_.Contains(event.stream)) TakeToken(event.stream);
}

void CoordinatorCore::On(const MessageMalformed& event) {
  if (!streams_.Contains(event.stream)) return;
  ++job_.counters.messages_refused;
  Refuse(event.stream, event.status);
}

void CoordinatorCore::On(MessageReceived& event) {
  if (!streams_.Contains(event.stream)) return;  // closed; the message was on its way
  if (!TakeToken(event.stream)) return;
  streams_.OnMessage(event.stream, now_.monotonic);
  absl::Status status;
  if (const auto* hello = std::get_if<wire::Hello>(&event.message)) {
    status = OnHello(event.stream, *hello);
    ++(status.ok() ? job_.counters.hellos_admitted : job_.counters.hellos_refused);
    if (absl::IsAlreadyExists(status)) ++job_.counters.duplicate_agents;
    if (absl::IsPermissionDenied(status)) ++job_.counters.foreign_agents;
  } else if (const Member* member = job_.membership.FindByStream(event.stream)) {
    status = Dispatch(*member, event);
    if (!status.ok()) ++job_.counters.messages_refused;
  } else {
    ++job_.counters.messages_refused;
    status = absl::FailedPreconditionError("the first message of a stream must be a hello");
  }
  if (!status.ok()) Refuse(event.stream, status);
}

absl::Status CoordinatorCore::OnHello(StreamId stream, const wire::Hello& hello) {
  absl::StatusOr<Membership::Admission> admission =
      job_.membership.Admit(stream, hello, streams_.PeerOf(stream, now_.wall));
  if (!admission.ok()) return admission.status();
  const Member& member = *job_.membership.Find(hello.worker);
  if (admission->superseded.has_value()) {
    ++(admission->new_agent ? job_.counters.superseded : job_.counters.takeovers);
    const StreamId old = *admission->superseded;
    streams_.Erase(old);
    job_.progress.Disconnected(hello.worker);
    LeaveCollections(hello.worker);
    const char* newer = admission->new_agent ? "agent" : "connection";
    Emit(Close{old, absl::AlreadyExistsError(
                        absl::StrFormat("a newer %s speaks for this worker", newer))});
    TellOfPeer(
        absl::StrFormat("%s: a newer %s takes the place of the old one", DebugName(member), newer));
  }
  if (!admission->not_direct.empty()) {
    WarnOfPeer(absl::StrCat(DebugName(member), ": --direct-evidence-from names it, but ",
                            admission->not_direct,
                            "; what it says of its machine counts as the job's word"));
  }
  job_.progress.Connected(hello.worker, streams_.VoterOf(stream, job_.membership));
  job_.addresses.Claim(hello);
  if (!job_.first_hello.has_value()) job_.first_hello = now_.monotonic;
  if (!job_.started.has_value()) job_.started = now_.monotonic;
  SendWelcome(stream, hello);
  TellOfPeer(absl::StrFormat("%s connected, agent %s (%d connected)", DebugName(member),
                             Quoted(hello.version), job_.membership.connected()));
  if (!all_connected_ && job_.membership.Complete()) {
    all_connected_ = true;
    Info(absl::StrFormat("all %d workers of job %s are connected", job_.membership.connected(),
                         Quoted(job_.membership.job())));
  }
  if (hello.job_incarnation.has_value()) {
    ShowIncarnation(hello.worker, *hello.job_incarnation, /*given=*/true);
  }
  const bool start_up_waited = state_ == State::kWaiting && about_start_up_;
  if (start_up_waited && job_.NotCome().empty()) Rearm("everybody has come");
  restart_.OnHello(hello.worker, hello.incident, streams_.VoterOf(stream, job_.membership));
  if (Incident* one = Collecting()) {
    one->OnJoin({hello.worker, stream, job_.progress.PartOf(hello.worker)}, now_.monotonic,
                effects_);
  }
  if (state_ == State::kWaiting && !recovery_.Recovered(hello.worker)) TellConcluded(member);
  return absl::OkStatus();
}

void CoordinatorCore::SendWelcome(StreamId stream, const wire::Hello& hello) {
  Emit(Send{stream, wire::Welcome{.protocol_version =
                                      std::min(hello.protocol_version, wire::kProtocolVersion),
                                  .job_incarnation = job_.incarnation.Id().value_or(""),
                                  .heartbeat_interval = hello.poll_interval,
                                  .attention_after = attention_after_}});
}

// Without this a job with long launches would have its runtimes asked for HLO,
// which is expensive, in every single one of them.
void CoordinatorCore::UpdateAttention() {
  const absl::Duration attention = job_.AttentionAfter();
  const double factor = absl::FDivDuration(attention, attention_after_);
  if (factor < kAttentionChange && factor > 1 / kAttentionChange) return;
  attention_after_ = attention;
  for (const auto& [id, member] : job_.membership.members()) {
    if (member.stream.has_value()) SendWelcome(*member.stream, member.hello);
  }
}

absl::Status CoordinatorCore::Dispatch(const Member& member, MessageReceived& event) {
  const WorkerId worker = member.hello.worker;
  const absl::Duration now = now_.monotonic;
  const auto collector = [this](int64_t collection) {
    Incident* one = Collecting();
    return one != nullptr && one->Owns(collection) ? one : nullptr;
  };
  int64_t collection = 0;
  if (const auto* heartbeat = std::get_if<wire::Heartbeat>(&event.message)) {
    OnHeartbeat(member, *heartbeat);
    return absl::OkStatus();
  } else if (const auto* alarm = std::get_if<wire::Alarm>(&event.message)) {
    OnAlarm(member, *alarm);
    return absl::OkStatus();
  } else if (std::holds_alternative<wire::Leaving>(event.message)) {
    job_.membership.AnnounceLeave(worker);
    return absl::OkStatus();
  } else if (const auto* question = std::get_if<wire::WhoIs>(&event.message)) {
    Emit(Send{*member.stream, job_.addresses.Answer(*question)});
    return absl::OkStatus();
  } else if (const auto* ready = std::get_if<wire::SampleReady>(&event.message)) {
    collection = ready->collection;
    if (Incident* one = collector(collection)) return one->OnReady(worker, *ready, now, effects_);
  } else if (auto* snapshot = std::get_if<wire::SnapshotReply>(&event.message)) {
    collection = snapshot->collection;
    if (Incident* one = collector(collection)) {
      Attribute(member, snapshot->snapshot);
      return one->OnSnapshot(worker, std::move(*snapshot), event.bytes, now, effects_);
    }
  } else if (const auto* hlo = std::get_if<wire::HloReply>(&event.message)) {
    collection = hlo->collection;
    if (Incident* one = collector(collection)) return one->OnHlo(worker, *hlo, now, effects_);
  } else if (auto* text = std::get_if<wire::ModuleTextReply>(&event.message)) {
    collection = text->collection;
    if (texts_.has_value() && texts_->number() == collection) {
      return texts_->OnReply(worker, std::move(*text), now, effects_);
    }
  } else if (const auto* probes = std::get_if<wire::ProbeReply>(&event.message)) {
    collection = probes->collection;
    if (Incident* one = collector(collection)) return one->OnProbes(worker, *probes, now, effects_);
  }
  // An answer to a collection that has ended may well be on its way still; one
  // to a collection that never was cannot.
  if (!job_.collections.Given(collection)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("collection: %d was never begun", collection));
  }
  return absl::OkStatus();
}

void CoordinatorCore::OnHeartbeat(const Member& member, const wire::Heartbeat& heartbeat) {
  const WorkerId worker = member.hello.worker;
  const int64_t agent = member.hello.agent_incarnation;
  if (!member.hello.job_incarnation.has_value() && heartbeat.process_incarnation.has_value()) {
    ShowIncarnation(worker, *heartbeat.process_incarnation, /*given=*/false);
  }
  if (job_.incarnation.Left(worker)) {
    // A process of the past drives nothing, unless it turns out to be at work.
    if (!job_.progress.Advanced(worker, agent, heartbeat)) return;
    job_.incarnation.Rejoin(worker);
  }
  const WorkerProgress* before = job_.progress.Find(worker);
  const int64_t completed = before == nullptr ? 0 : before->completed;
  const auto last_completion = before == nullptr ? std::nullopt : before->last_completion;
  const bool advanced = job_.progress.Observe(worker, agent, heartbeat, now_.monotonic);
  if (advanced && last_completion.has_value()) {
    const WorkerProgress& known = *job_.progress.Find(worker);
    if (known.step_took.has_value()) {
      job_.launch_times.Add(1, *known.step_took, now_.monotonic);
    } else if (known.runtime_answers) {
      job_.launch_times.Add(known.completed - completed, *known.last_completion - *last_completion,
                            now_.monotonic);
    }
  }
  restart_.OnHeartbeat(worker, heartbeat, advanced);
  if (advanced) FollowLeftOpen(worker);
  if (state_ == State::kArmed) {
    if (pause_.lasts()) return;  // what is not watched is no health to learn from
    if (const auto took = job_.progress.Find(worker)->step_took) {
      job_.learning.ObserveStep(worker, *took);
    }
    job_.learning.Observe(worker, heartbeat, advanced);
  } else if (advanced) {
    NoteRecovery(worker);
  }
}

// The job ----------------------------------------------------------------------

void CoordinatorCore::ShowIncarnation(const WorkerId& worker, const std::string& key, bool given) {
  if (job_.incarnation.Observe(worker, key, given, job_.progress.hosts())) OnJobRestart();
}

void CoordinatorCore::OnJobRestart() {
  ++job_.counters.job_restarts;
  Info(absl::StrCat("the job has restarted, incarnation ",
                    Quoted(job_.incarnation.Id().value_or("unknown"))));
  job_.progress.Forget();
  job_.learning.Forget();
  job_.started = now_.monotonic;
  job_.start_up_not_before = -absl::InfiniteDuration();
  restart_.Clear();
  alarm_.Clear();
  looks_.Clear();
  EndTexts("the job has restarted, and dumps anew");
  if (incident_.has_value()) AbandonIncident("the job has restarted");
  on_demand_.Abandon(effects_);  // those who asked get a snapshot of the job as it is now
  if (recovery_.IsAbout(job_.incarnation)) return;
  if (state_ == State::kWaiting) {
    Rearm("the job has restarted");
  } else if (state_ == State::kConcluding) {
    recovery_.RecoverAll(job_.membership);
  }
}

void CoordinatorCore::OnAlarm(const Member& member, const wire::Alarm& alarm) {
  ++job_.counters.alarms;
  const std::string why = absl::StrCat(DebugName(member), " reports ", Quoted(alarm.text));
  // In a hang thousands may say the same.
  WarnOfPeer(why);
  if (alarm.kind != wire::AlarmKind::kProcessExit) {
    alarmed_.insert(member.hello.worker);
    if (incident_.has_value()) incident_->OnAlarm(member.hello.worker);
  }
  if (state_ == State::kArmed && !pause_.lasts()) alarm_.Raise({alarm.kind, why}, now_.monotonic);
}

// Not before most others are there, or had the time to come: a coordinator that starts
// together with its job would take the end of the old processes for that of one of them.
void CoordinatorCore::FollowAlarm() {
  const std::optional<WorkerAlarm::Raised> raised = alarm_.Due(now_.monotonic);
  if (!raised.has_value()) return;
  const bool settled = job_.UpdateSettled(now_.monotonic);
  if (!settled && !job_.membership.MostAreThere()) return;
  if (restart_.MayDecide(settled)) return;
  Suspicion suspicion{.trigger = TriggerOf(raised->kind),
                      .why = raised->why,
                      .threshold = std::nullopt,
                      .detected = now_};
  if (const auto last = job_.progress.LastCompletion()) {
    suspicion.still_for = now_.monotonic - *last;
  }
  // It is about the standstill that has been looked at.
  if (looks_.open() && job_.Judge(now_.monotonic)) suspicion.incident = looks_.incident();
  Begin(std::move(suspicion));
}

void CoordinatorCore::Survey() {
  if (now_.monotonic < next_survey_) return;
  next_survey_ = now_.monotonic + kJudgePeriod;
  CloseSilentStreams();
  if (pause_.lasts()) return;
  if (state_ == State::kWaiting) LookAgain();
  if (state_ == State::kWaiting && now_.monotonic >= believed_until_) {
    Rearm("this disk does not have the incident that agents remember");
  }
  if (state_ != State::kArmed) return;
  UpdateAttention();
  for (std::string& text : job_.RetireLeavers(now_.monotonic)) Info(std::move(text));
  const bool settled = job_.UpdateSettled(now_.monotonic);
  if (auto pauses = job_.PausesToKeep(now_.monotonic)) Emit(PausesLearnt{*std::move(pauses)});
  if (!settled || now_.monotonic < judge_not_before_ || Recall()) return;
  Judge();
}

void CoordinatorCore::Judge() {
  std::optional<Standstill> standstill = job_.Judge(now_.monotonic);
  if (!standstill.has_value()) looks_.Clear();
  if (looks_.open() && !looks_.Due(now_.monotonic)) return;
  if (!standstill.has_value()) {
    if (now_.monotonic < job_.start_up_not_before) return;
    standstill = job_.JudgeStartUp(now_.monotonic);
    job_.start_up_not_before =
        now_.monotonic +
        (standstill.has_value() ? job_.thresholds.startup_grace : kStartUpJudgePeriod);
    if (!standstill.has_value()) return;
  }
  Suspicion suspicion = SuspicionOf(*standstill, now_);
  if (looks_.open()) suspicion.incident = looks_.incident();
  Begin(std::move(suspicion));
}

// Workers that are gone, or advance here and there, show nothing that the digest lacks.
void CoordinatorCore::LookAgain() {
  // A worker's word, while the others went on, is not the last one on how they came to stand.
  if (!looks_.open() && job_.Judge(now_.monotonic).has_value() &&
      recovery_.TakeUnseenStandstill(job_.progress.LastCompletion())) {
    looks_.Plan(incident_id_, absl::ZeroDuration(), now_.monotonic);
  }
  if (!looks_.Due(now_.monotonic)) return;
  const std::optional<Standstill> standstill = job_.Judge(now_.monotonic);
  if (!standstill.has_value()) {
    return looks_.Plan(incident_id_, kLookAfterUnknown, now_.monotonic);
  }
  Suspicion suspicion = SuspicionOf(*standstill, now_);
  suspicion.incident = incident_id_;
  Begin(std::move(suspicion));
}

// An incident: begin, follow, abandon or conclude, recover ------------------------

void CoordinatorCore::Begin(Suspicion suspicion) {
  ++job_.counters.suspicions;
  if (!suspicion.incident.has_value()) {
    suspicion.incident = job_.NameIncident(suspicion.detected.wall);
  }
  incident_id_ = *suspicion.incident;
  if (looks_.open() && looks_.incident() == incident_id_) {
    ++job_.counters.further_looks;
    Info(absl::StrFormat("looking again at incident %s (%d of at most %d times)", incident_id_,
                         std::min(looks_.looks(), kMaxLooks), kMaxLooks));
  }
  restart_.Clear();              // what agents remember of this one, they tell anew
  on_demand_.Abandon(effects_);  // those who asked are answered by the incident
  const std::vector<Target> targets = job_.ConnectedWorkers();
  Warn(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                       job_.membership.Expected().size()));
  state_ = State::kCollecting;
  incident_.emplace(std::move(suspicion), targets, job_.collections.TakePair(), collect_deadline_,
                    now_.monotonic, effects_);
  for (const WorkerId& worker : alarmed_) incident_->OnAlarm(worker);
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

namespace {

// When the worker last got on with its work; absent: not known.
std::optional<absl::Duration> LastSign(const WorkerProgress& known) {
  const bool by_work = !known.Shown() && known.active_at.has_value();
  return by_work ? known.active_at : known.last_completion;
}

}  // namespace

// Until everybody had the time to come, the few that are there are no majority.
void CoordinatorCore::FollowLeftOpen(const WorkerId& worker) {
  if (!left_open_.has_value()) return;
  auto& [id, recovery] = *left_open_;
  if (!recovery.Observe(worker, LastSign(*job_.progress.Find(worker)))) return;
  if (!job_.settled || !recovery.MostRecovered(job_.progress.Told(), job_.progress.hosts())) return;
  EndIncident(id, "most workers complete launches again");
}

void CoordinatorCore::NoteRecovery(const WorkerId& worker) {
  if (state_ == State::kCollecting && !told_.IsOf(incident_id_)) {
    // What a worker reported by itself is settled by the two rounds; a lack of
    // progress by progress.
    if (incident_->suspicion().threshold.has_value() && !job_.Judge(now_.monotonic).has_value()) {
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

void CoordinatorCore::AbandonIncident(const std::string& why) {
  Info(absl::StrCat(told_.IsOf(incident_id_) ? "the further look has ended: " : "no hang: ", why));
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  incident_->Abandon(effects_);
  const std::optional<absl::Duration> threshold = incident_->suspicion().threshold;
  incident_.reset();
  if (looks_.open()) looks_.Plan(incident_id_, kLookAfterNoHang, now_.monotonic);
  if (told_.IsOf(incident_id_)) {
    state_ = State::kWaiting;
    if (!stopping_) TellAllConcluded();  // those who have come meanwhile, too
    return;
  }
  state_ = State::kArmed;
  judge_not_before_ = now_.monotonic + std::min(threshold.value_or(kAlarmRetry), kAlarmInterval);
  if (!threshold.has_value()) alarm_.FoundNoHang(now_.monotonic);
  alarmed_.clear();
}

void CoordinatorCore::ConcludeIncident() {
  job_.counters.snapshots_over_budget += static_cast<int64_t>(incident_->over_budget());
  job_.counters.probes_asked += static_cast<int64_t>(incident_->probes_asked());
  const Suspicion& suspicion = incident_->suspicion();
  const bool again = told_.IsOf(incident_id_);
  if (!again) {
    const absl::Duration still = suspicion.still_for.value_or(absl::ZeroDuration());
    job_.lost_time.Suspect(suspicion.detected.monotonic - still,
                           CountChips(incident_->snapshots(), job_.membership.Expected().size()));
  }
  Emit(Conclude{.incident_id = incident_id_,
                .capture = job_.BuildCapture(*incident_),
                .detect_to_collect = incident_->started() - suspicion.detected.monotonic,
                .collect = now_.monotonic - incident_->started(),
                .hardware = job_.HardwareOfMissing(*incident_),
                .hosts = job_.HostsIn(*incident_),
                .again = again,
                .detection = again ? std::nullopt : suspicion.still_for});
  alarm_.Clear();
  if (again) {
    // From when on the job has recovered, and what it is, were settled by the first look.
    incident_.reset();
    state_ = State::kConcluding;
    return;
  }
  std::map<WorkerId, std::string> shown = job_.ShownIn(*incident_);
  // After a worker's word the others may go on for a while with what they had
  // queued; after a threshold has passed whoever moves has recovered.
  const absl::Duration now = now_.monotonic;
  recovery_ = suspicion.threshold.has_value()
                  ? JobRecovery(now, std::move(shown))
                  : JobRecovery(now + job_.LaunchThreshold(), std::move(shown), now);
  about_start_up_ = job_.StartingFor(now_.monotonic).has_value() && !job_.NotCome().empty();
  alarm_.Clear();
  alarmed_.clear();
  incident_.reset();
  state_ = State::kConcluding;
}

void CoordinatorCore::On(const IncidentConcluded& event) {
  if (state_ != State::kConcluding) return;
  texts_.reset();  // no longer needed
  restart_.Clear();
  const bool told = told_.IsOf(incident_id_);
  const bool unknown = event.unknown || std::exchange(told_.repeated_unknown, false);
  looks_.Follow(event, unknown, told, job_.Judge(now_.monotonic).has_value(), now_.monotonic);
  if (!event.hang && !told) {
    Info(absl::StrCat("no hang: the job makes progress, or there is none any more (",
                      event.incident_id, ")"));
    state_ = State::kArmed;
    judge_not_before_ = looks_.open() ? looks_.next() : now_.monotonic + kAlarmInterval;
    alarm_.HoldOff(now_.monotonic);
    if (stopping_) CloseAll();
    return;
  }
  if (!told) ++job_.counters.incidents;
  // There is one at a time.
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
  on_demand_.AnswerAll(event.incident_id, effects_);
  state_ = State::kWaiting;
  TellAllConcluded();
  if (stopping_) {
    CloseAll();
    return;
  }
  if (recovery_.MostRecovered(job_.progress.Told(), job_.progress.hosts())) {
    Rearm("most workers complete launches again");
  }
}

void CoordinatorCore::Rearm(const std::string& why) {
  Info(absl::StrCat("watching again: ", why));
  // One that agents remember, and that this disk does not have, has not ended: it is not believed.
  if (told_.IsOf(incident_id_) && now_.monotonic < believed_until_) EndIncident(incident_id_, why);
  state_ = State::kArmed;
  looks_.Clear();
  believed_until_ = absl::InfiniteDuration();
  alarmed_.clear();
  restart_.Clear();
  job_.learning.AfterIncident();
}

void CoordinatorCore::EndIncident(const std::string& id, const std::string& why) {
  const EndedIncident ended{id, now_.wall, why};
  if (left_open_.has_value() && left_open_->first == ended.id) left_open_.reset();
  if (!job_.ended.empty() && job_.ended.back().id == ended.id) return;
  if (job_.ended.size() == kMaxEndedIncidents) job_.ended.erase(job_.ended.begin());
  job_.ended.push_back(ended);
  Emit(IncidentEnded{ended});
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

// The end --------------------------------------------------------------------------

void CoordinatorCore::On(const Stop&) {
  stopping_ = true;
  on_demand_.Abandon(effects_);
  EndTexts("the coordinator was stopping");
  on_demand_.RefuseAll(absl::UnavailableError("the coordinator is stopping"), effects_);
  const bool conclude =
      incident_.has_value() && !incident_->snapshots().empty() && !told_.IsOf(incident_id_);
  if (conclude) {
    Warn("asked to stop during an incident; concluding with what there is");
    ConcludeIncident();
  } else if (incident_.has_value()) {
    AbandonIncident(told_.IsOf(incident_id_) ? "asked to stop"
                                             : "asked to stop before any worker answered");
  }
  // Workers that were collected from for an incident must still get its end.
  if (state_ != State::kConcluding) CloseAll();
}

}  // namespace rapideye::coordinator

#include "coordinator/core/coordinator_core.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

CoordinatorCore::CoordinatorCore(Options options)
    : job_(std::move(options.shape), options.thresholds),
      collect_deadline_(options.collect_deadline),
      attention_after_(AttentionAfter()) {}

Effects CoordinatorCore::Step(Event event, const Instant& now) {
  now_ = now;
  effects_.clear();
  std::visit([this](auto& e) { On(e); }, event);
  if (!stopping_) {
    if (incident_.has_value()) incident_->OnTick(now_.monotonic, effects_);
    FollowIncident();
    FollowTexts();
    if (state_ == State::kArmed) FollowAlarm();
    Survey();
    FollowRequests();
    ProbeFor(incident_);
    ProbeFor(inspection_);
  }
  return std::exchange(effects_, {});
}

absl::Duration CoordinatorCore::NextWake(absl::Duration now) const {
  if (stopping_) return absl::InfiniteDuration();
  absl::Duration wake = streams_.empty() ? absl::InfiniteDuration() : std::max(now, next_survey_);
  for (const std::optional<Incident>* one : {&incident_, &inspection_}) {
    if (one->has_value()) wake = std::min(wake, (*one)->NextWake());
  }
  if (texts_.has_value()) wake = std::min(wake, texts_->NextWake());
  return wake;
}

absl::Status CoordinatorCore::OnMessage(StreamId stream, const wire::Hello& hello) {
  absl::StatusOr<Membership::Admission> admission =
      job_.membership.Admit(stream, hello, streams_[stream].identity);
  if (!admission.ok()) return admission.status();
  const Member& member = *job_.membership.Find(hello.worker);
  if (admission->superseded.has_value()) {
    ++(admission->new_agent ? job_.counters.superseded : job_.counters.takeovers);
    const StreamId old = *admission->superseded;
    streams_.erase(old);
    job_.progress.Disconnected(hello.worker);
    if (incident_.has_value()) incident_->OnLeave(hello.worker, now_.monotonic, effects_);
    if (inspection_.has_value()) inspection_->OnLeave(hello.worker, now_.monotonic, effects_);
    if (texts_.has_value()) texts_->OnLeave(hello.worker, now_.monotonic, effects_);
    const char* newer = admission->new_agent ? "agent" : "connection";
    Emit(Close{old, absl::AlreadyExistsError(
                        absl::StrFormat("a newer %s speaks for this worker", newer))});
    Info(absl::StrFormat("%s: a newer %s takes the place of the old one", Describe(member), newer));
  }
  job_.addresses.Claim(hello);
  if (!first_hello_.has_value()) first_hello_ = now_.monotonic;
  SendWelcome(stream, hello);
  Info(absl::StrFormat("%s connected, agent %s (%d connected)", Describe(member),
                       Quoted(hello.version), job_.membership.connected()));
  if (!all_connected_ && job_.membership.Complete()) {
    all_connected_ = true;
    Info(absl::StrFormat("all %d workers of job %s are connected", job_.membership.connected(),
                         Quoted(job_.membership.job())));
  }
  if (hello.job_incarnation.has_value()) {
    ShowIncarnation(hello.worker, *hello.job_incarnation, /*given=*/true);
  }
  votes_.OnHello(hello.worker, hello.incident);
  for (std::optional<Incident>* one : {&incident_, &inspection_}) {
    if (one->has_value()) (*one)->OnJoin({hello.worker, stream}, now_.monotonic, effects_);
  }
  if (state_ == State::kWaiting && !recovered_.contains(hello.worker)) TellConcluded(member);
  return absl::OkStatus();
}

absl::Duration CoordinatorCore::AttentionAfter() const {
  return std::min(job_.LaunchThreshold(), job_.HangThreshold()) / 2;
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
  const absl::Duration attention = AttentionAfter();
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
  if (const auto* heartbeat = std::get_if<wire::Heartbeat>(&event.message)) {
    return OnHeartbeat(member, *heartbeat);
  }
  if (const auto* alarm = std::get_if<wire::Alarm>(&event.message)) return OnAlarm(member, *alarm);
  if (const auto* question = std::get_if<wire::WhoIs>(&event.message)) {
    OnWhoIs(member, *question);
    return absl::OkStatus();
  }
  int64_t collection = 0;
  if (const auto* ready = std::get_if<wire::SampleReady>(&event.message)) {
    collection = ready->collection;
    if (Incident* one = CollectorOf(collection)) return one->OnReady(worker, *ready, now, effects_);
  } else if (auto* snapshot = std::get_if<wire::SnapshotReply>(&event.message)) {
    collection = snapshot->collection;
    if (Incident* one = CollectorOf(collection)) {
      return one->OnSnapshot(worker, std::move(*snapshot), event.bytes, now, effects_);
    }
  } else if (const auto* hlo = std::get_if<wire::HloReply>(&event.message)) {
    collection = hlo->collection;
    if (Incident* one = CollectorOf(collection)) return one->OnHlo(worker, *hlo, now, effects_);
  } else if (auto* text = std::get_if<wire::ModuleTextReply>(&event.message)) {
    collection = text->collection;
    if (texts_.has_value() && texts_->number() == collection) {
      return texts_->OnReply(worker, std::move(*text), now, effects_);
    }
  } else if (const auto* probes = std::get_if<wire::ProbeReply>(&event.message)) {
    collection = probes->collection;
    if (Incident* one = CollectorOf(collection)) {
      return one->OnProbes(worker, *probes, now, effects_);
    }
  }
  // An answer to a collection that has ended may well be on its way still; one
  // to a collection that never was cannot.
  if (!job_.collections.Given(collection)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("collection: %d was never begun", collection));
  }
  return absl::OkStatus();
}

// The job --------------------------------------------------------------------

absl::Status CoordinatorCore::OnHeartbeat(const Member& member, const wire::Heartbeat& heartbeat) {
  const WorkerId worker = member.hello.worker;
  const int64_t agent = member.hello.agent_incarnation;
  if (!member.hello.job_incarnation.has_value() && heartbeat.process_incarnation.has_value()) {
    ShowIncarnation(worker, *heartbeat.process_incarnation, /*given=*/false);
  }
  if (job_.incarnation.Left(worker)) {
    // A process of the past drives nothing, unless it turns out to be at work.
    if (!job_.progress.Advanced(worker, agent, heartbeat)) return absl::OkStatus();
    job_.incarnation.Rejoin(worker);
  }
  const bool advanced = job_.progress.Observe(worker, agent, heartbeat, now_.monotonic);
  votes_.OnHeartbeat(worker, heartbeat, advanced);
  if (state_ == State::kArmed) {
    job_.learning.Observe(worker, heartbeat, advanced);
  } else if (advanced) {
    NoteRecovery(worker);
  }
  return absl::OkStatus();
}

void CoordinatorCore::OnWhoIs(const Member& member, const wire::WhoIs& question) {
  wire::Peers answer;
  for (const IpAddress& address : question.addresses) {
    if (const std::optional<WorkerId> worker = job_.addresses.WorkerOf(address)) {
      answer.peers.push_back({address, *worker});
    }
  }
  Emit(Send{*member.stream, std::move(answer)});
}

void CoordinatorCore::ShowIncarnation(const WorkerId& worker, const std::string& key, bool given) {
  if (job_.incarnation.Observe(worker, key, given)) OnJobRestart();
}

void CoordinatorCore::OnJobRestart() {
  ++job_.counters.job_restarts;
  Info(absl::StrCat("the job has restarted, incarnation ",
                    Quoted(job_.incarnation.Id().value_or("unknown"))));
  job_.progress.Forget();
  job_.learning.Forget();
  votes_.Clear();
  alarm_.reset();
  EndTexts("the job has restarted, and dumps anew");
  if (incident_.has_value()) AbandonIncident("the job has restarted");
  AbandonInspection();  // those who asked get a look at the job as it is now
  alarm_.reset();
  if (IncidentIsOfThisJob()) return;
  if (state_ == State::kWaiting) {
    Rearm("the job has restarted");
  } else if (state_ == State::kConcluding) {
    recovered_ = {};
    for (const auto& [id, member] : job_.membership.members()) recovered_.insert(id);
  }
}

bool CoordinatorCore::IncidentIsOfThisJob() const {
  size_t restarted = 0;
  size_t same = 0;
  for (const auto& [worker, shown] : its_incarnations_) {
    const std::optional<std::string> key = job_.incarnation.KeyOf(worker);
    if (!key.has_value()) continue;
    ++restarted;
    if (*key == shown) ++same;
  }
  return same * 2 > restarted;
}

absl::Status CoordinatorCore::OnAlarm(const Member& member, const wire::Alarm& alarm) {
  ++job_.counters.alarms;
  const std::string why = absl::StrCat(Describe(member), " reports ", Quoted(alarm.text));
  // In a hang thousands may say the same.
  WarnOfPeer(why);
  if (state_ == State::kArmed && !alarm_.has_value()) {
    alarm_ = PendingAlarm{
        .why = why, .tries = kAlarmTries, .due = std::max(now_.monotonic, alarm_not_before_)};
  }
  return absl::OkStatus();
}

// Not before most others are there, or had the time to come: a coordinator that starts
// together with its job would take the end of the old processes for that of one of them.
void CoordinatorCore::FollowAlarm() {
  if (!alarm_.has_value() || now_.monotonic < alarm_->due) return;
  UpdateSettled();
  if (!(settled_ || job_.membership.MostAreThere()) || RecallMayCome()) return;
  Begin(Suspicion{
      .trigger = "hang-line", .why = alarm_->why, .threshold = std::nullopt, .detected = now_});
}

void CoordinatorCore::Survey() {
  if (now_.monotonic < next_survey_) return;
  next_survey_ = now_.monotonic + kJudgePeriod;
  CloseSilentStreams();
  if (state_ != State::kArmed) return;
  UpdateAttention();
  UpdateSettled();
  if (!settled_ || now_.monotonic < judge_not_before_ || Recall()) return;
  Judge();
}

// Shortly after a start most agents may still be on their way back. One that
// leaves after all were there is evidence, and nothing to wait for.
void CoordinatorCore::UpdateSettled() {
  if (settled_ || !first_hello_.has_value()) return;
  settled_ = job_.membership.Complete() || now_.monotonic - *first_hello_ >= kSettleTime;
}

void CoordinatorCore::Judge() {
  const std::optional<Stillness> stillness = job_.Judge(now_.monotonic);
  if (!stillness.has_value()) return;
  Begin(
      Suspicion{.trigger = "no-progress",
                .why = absl::StrFormat(
                    "no progress for %s (threshold %s): %s",
                    absl::FormatDuration(absl::Trunc(stillness->still_for, absl::Milliseconds(1))),
                    absl::FormatDuration(stillness->threshold), stillness->why),
                .threshold = stillness->threshold,
                .detected = now_,
                .announced_pause =
                    stillness->announced ? std::optional(stillness->threshold) : std::nullopt});
}

// The end ----------------------------------------------------------------------

void CoordinatorCore::On(const Stop&) {
  stopping_ = true;
  AbandonInspection();
  EndTexts("the coordinator was stopping");
  RefuseRequests(absl::UnavailableError("the coordinator is stopping"));
  if (incident_.has_value() && !incident_->snapshots().empty()) {
    Warn("asked to stop during an incident; concluding with what there is");
    ConcludeIncident();
  } else if (incident_.has_value()) {
    AbandonIncident("asked to stop before any worker answered");
  }
  // Whoever has collected for an incident is still to be told of its end.
  if (state_ != State::kConcluding) CloseAll();
}

void CoordinatorCore::CloseAll() {
  for (const auto& [id, stream] : streams_) {
    Emit(Close{id, absl::UnavailableError("the coordinator is stopping")});
  }
  streams_.clear();
}

}  // namespace rapideye::coordinator

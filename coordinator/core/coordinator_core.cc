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
    : job_(std::move(options.shape), options.thresholds),
      collect_deadline_(options.collect_deadline),
      on_demand_(options.collect_deadline),
      attention_after_(job_.AttentionAfter()) {}

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
    // During an incident its end answers those who ask for a snapshot.
    const bool may_begin = state_ == State::kArmed || state_ == State::kWaiting;
    on_demand_.Follow(may_begin, job_, now_, effects_);
    Incident* collecting = Collecting();
    if (collecting != nullptr && collecting->WantsProbes()) {
      collecting->BeginProbes(job_.PlanProbes(*collecting), now_.monotonic, effects_);
    }
  }
  return std::exchange(effects_, {});
}

absl::Duration CoordinatorCore::NextWake(absl::Duration now) const {
  if (stopping_) return absl::InfiniteDuration();
  absl::Duration wake = streams_.empty() ? absl::InfiniteDuration() : std::max(now, next_survey_);
  for (const std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) wake = std::min(wake, (*one)->NextWake());
  }
  if (texts_.has_value()) wake = std::min(wake, texts_->NextWake());
  return wake;
}

// Never both: an incident ends the snapshot on demand.
Incident* CoordinatorCore::Collecting() {
  for (std::optional<Incident>* one : {&incident_, &on_demand_.collection()}) {
    if (one->has_value()) return &**one;
  }
  return nullptr;
}

absl::Status CoordinatorCore::OnHello(StreamId stream, const wire::Hello& hello) {
  absl::StatusOr<Membership::Admission> admission =
      job_.membership.Admit(stream, hello, streams_.IdentityOf(stream));
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
    Info(absl::StrFormat("%s: a newer %s takes the place of the old one", Describe(member), newer));
  }
  job_.addresses.Claim(hello);
  if (!job_.first_hello.has_value()) job_.first_hello = now_.monotonic;
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
  restart_.OnHello(hello.worker, hello.incident);
  if (Incident* one = Collecting()) one->OnJoin({hello.worker, stream}, now_.monotonic, effects_);
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
  } else if (const auto* question = std::get_if<wire::WhoIs>(&event.message)) {
    OnWhoIs(member, *question);
    return absl::OkStatus();
  } else if (const auto* ready = std::get_if<wire::SampleReady>(&event.message)) {
    collection = ready->collection;
    if (Incident* one = collector(collection)) return one->OnReady(worker, *ready, now, effects_);
  } else if (auto* snapshot = std::get_if<wire::SnapshotReply>(&event.message)) {
    collection = snapshot->collection;
    if (Incident* one = collector(collection)) {
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
  const bool advanced = job_.progress.Observe(worker, agent, heartbeat, now_.monotonic);
  restart_.OnHeartbeat(worker, heartbeat, advanced);
  if (state_ == State::kArmed) {
    job_.learning.Observe(worker, heartbeat, advanced);
  } else if (advanced) {
    NoteRecovery(worker);
  }
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

// The job ----------------------------------------------------------------------

void CoordinatorCore::ShowIncarnation(const WorkerId& worker, const std::string& key, bool given) {
  if (job_.incarnation.Observe(worker, key, given)) OnJobRestart();
}

void CoordinatorCore::OnJobRestart() {
  ++job_.counters.job_restarts;
  Info(absl::StrCat("the job has restarted, incarnation ",
                    Quoted(job_.incarnation.Id().value_or("unknown"))));
  job_.progress.Forget();
  job_.learning.Forget();
  restart_.Clear();
  alarm_.Clear();
  EndTexts("the job has restarted, and dumps anew");
  if (incident_.has_value()) AbandonIncident("the job has restarted");
  on_demand_.Abandon(effects_);  // those who asked get a look at the job as it is now
  if (recovery_.IsAbout(job_.incarnation)) return;
  if (state_ == State::kWaiting) {
    Rearm("the job has restarted");
  } else if (state_ == State::kConcluding) {
    recovery_.RecoverAll(job_.membership);
  }
}

void CoordinatorCore::OnAlarm(const Member& member, const wire::Alarm& alarm) {
  ++job_.counters.alarms;
  const std::string why = absl::StrCat(Describe(member), " reports ", Quoted(alarm.text));
  // In a hang thousands may say the same.
  WarnOfPeer(why);
  if (state_ == State::kArmed) alarm_.Raise(why, now_.monotonic);
}

// Not before most others are there, or had the time to come: a coordinator that starts
// together with its job would take the end of the old processes for that of one of them.
void CoordinatorCore::FollowAlarm() {
  const std::optional<std::string> why = alarm_.Due(now_.monotonic);
  if (!why.has_value()) return;
  const bool settled = job_.UpdateSettled(now_.monotonic);
  if (!settled && !job_.membership.MostAreThere()) return;
  if (restart_.MayDecide(settled, job_.membership.connected())) return;
  Begin(
      Suspicion{.trigger = "hang-line", .why = *why, .threshold = std::nullopt, .detected = now_});
}

void CoordinatorCore::Survey() {
  if (now_.monotonic < next_survey_) return;
  next_survey_ = now_.monotonic + kJudgePeriod;
  CloseSilentStreams();
  if (state_ != State::kArmed) return;
  UpdateAttention();
  if (!job_.UpdateSettled(now_.monotonic) || now_.monotonic < judge_not_before_ || Recall()) return;
  Judge();
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

// The end --------------------------------------------------------------------------

void CoordinatorCore::On(const Stop&) {
  stopping_ = true;
  on_demand_.Abandon(effects_);
  EndTexts("the coordinator was stopping");
  on_demand_.RefuseAll(absl::UnavailableError("the coordinator is stopping"), effects_);
  if (incident_.has_value() && !incident_->snapshots().empty()) {
    Warn("asked to stop during an incident; concluding with what there is");
    ConcludeIncident();
  } else if (incident_.has_value()) {
    AbandonIncident("asked to stop before any worker answered");
  }
  // Whoever has collected for an incident is still to be told of its end.
  if (state_ != State::kConcluding) CloseAll();
}

}  // namespace rapideye::coordinator

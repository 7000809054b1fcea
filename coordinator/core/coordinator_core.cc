#include "coordinator/core/coordinator_core.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

CoordinatorCore::CoordinatorCore(Options options)
    : job_(std::move(options.shape), options.thresholds, std::move(options.identity)),
      streams_(job_.membership.CertificatesNameWorkers()),
      watch_(job_, turn_, options.collect_deadline),
      attention_after_(job_.AttentionAfter()) {}

Effects CoordinatorCore::Step(Event event, const Instant& now) {
  turn_.Begin(now);
  std::visit([this](auto& e) { On(e); }, event);
  watch_.FollowCollections();
  if (!watch_.stopping()) Survey();
  watch_.FollowRequests();
  return turn_.End();
}

absl::Duration CoordinatorCore::NextWake(absl::Duration now) const {
  if (watch_.stopping()) return absl::InfiniteDuration();
  if (streams_.empty()) return watch_.NextWake();
  return std::min(watch_.NextWake(), std::max(now, next_survey_));
}

void CoordinatorCore::Survey() {
  if (turn_.monotonic() < next_survey_) return;
  next_survey_ = turn_.monotonic() + kJudgePeriod;
  CloseSilentStreams();
  if (!watch_.FollowWaiting()) return;
  UpdateAttention();
  watch_.Survey();
}

// Streams ----------------------------------------------------------------------

void CoordinatorCore::On(const StreamOpened& event) {
  if (watch_.stopping()) {
    turn_.Emit(Close{event.stream, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  if (streams_.Crowded(event)) {
    ++job_.counters.streams_refused;
    WarnOfPeer(absl::StrFormat("refused a stream at %s: its host, or its certificate, has too many",
                               Quoted(event.peer)));
    turn_.Emit(
        Close{event.stream, absl::ResourceExhaustedError(absl::StrFormat(
                                "more than %d streams of one host, or %d of one certificate; an "
                                "agent has one",
                                kMaxStreamsOfHost, kMaxStreamsOfCertificate))});
    return;
  }
  streams_.Open(event, turn_.monotonic());
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
  job_.Left(*worker, turn_.monotonic());
  watch_.OnLeave(*worker);
  if (log) {
    TellOfPeer(absl::StrFormat("%s disconnected (%d connected)",
                               DebugName(*job_.membership.Find(*worker)),
                               job_.membership.connected()));
  }
}

void CoordinatorCore::Refuse(StreamId stream, const absl::Status& status) {
  WarnOfPeer(absl::StrFormat("closed the stream at %s: %s",
                             streams_.DebugName(stream, job_.membership),
                             Quoted(std::string(status.message()))));
  turn_.Emit(Close{stream, status});
  Drop(stream, /*log=*/false);
}

void CoordinatorCore::WarnOfPeer(const std::string& text) {
  streams_.Warn(text, turn_.monotonic(), job_.counters.unlogged_lines, turn_.effects());
}

void CoordinatorCore::TellOfPeer(const std::string& text) {
  streams_.Tell(text, turn_.monotonic(), job_.counters.unlogged_lines, turn_.effects());
}

void CoordinatorCore::CloseSilentStreams() {
  for (const PeerStreams::Overdue& one : streams_.FindOverdue(job_.membership, turn_.monotonic())) {
    ++(one.nameless ? job_.counters.hello_timeouts : job_.counters.silent_streams);
    Refuse(one.stream, one.status);
  }
}

bool CoordinatorCore::TakeToken(StreamId stream) {
  const absl::Status status = streams_.CountMessage(stream, turn_.monotonic());
  if (status.ok()) return true;
  ++job_.counters.floods;
  Refuse(stream, status);
  return false;
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
  streams_.OnMessage(event.stream, turn_.monotonic());
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
      job_.membership.Admit(stream, hello, streams_.PeerOf(stream, turn_.now().wall));
  if (!admission.ok()) return admission.status();
  const Member& member = *job_.membership.Find(hello.worker);
  if (admission->superseded.has_value()) {
    ++(admission->new_agent ? job_.counters.superseded : job_.counters.takeovers);
    const StreamId old = *admission->superseded;
    streams_.Erase(old);
    job_.progress.Disconnected(hello.worker);
    watch_.OnSuperseded(hello.worker);
    const char* newer = admission->new_agent ? "agent" : "connection";
    turn_.Emit(Close{old, absl::AlreadyExistsError(
                              absl::StrFormat("a newer %s speaks for this worker", newer))});
    TellOfPeer(
        absl::StrFormat("%s: a newer %s takes the place of the old one", DebugName(member), newer));
  }
  if (!admission->not_direct.empty()) {
    WarnOfPeer(absl::StrCat(DebugName(member), ": --direct-evidence-from names it, but ",
                            admission->not_direct,
                            "; what it says of its machine counts as the job's word"));
  }
  const std::string voter = streams_.VoterOf(stream, job_.membership);
  job_.progress.Connected(hello.worker, voter);
  job_.addresses.Claim(hello);
  if (!job_.first_hello.has_value()) job_.first_hello = turn_.monotonic();
  if (!job_.started.has_value()) job_.started = turn_.monotonic();
  SendWelcome(stream, hello);
  TellOfPeer(absl::StrFormat("%s connected, agent %s (%d connected)", DebugName(member),
                             Quoted(hello.version), job_.membership.connected()));
  if (!all_connected_ && job_.membership.Complete()) {
    all_connected_ = true;
    turn_.Info(absl::StrFormat("all %d workers of job %s are connected",
                               job_.membership.connected(), Quoted(job_.membership.job())));
  }
  if (hello.job_incarnation.has_value()) {
    ShowIncarnation(hello.worker, *hello.job_incarnation, /*given=*/true);
  }
  watch_.OnHello(member, stream, voter);
  return absl::OkStatus();
}

void CoordinatorCore::SendWelcome(StreamId stream, const wire::Hello& hello) {
  turn_.Emit(Send{stream, wire::Welcome{.protocol_version = std::min(hello.protocol_version,
                                                                     wire::kProtocolVersion),
                                        .job_incarnation = job_.incarnation.Id().value_or(""),
                                        .heartbeat_interval = hello.poll_interval,
                                        .attention_after = attention_after_}});
}

// Agents ask a runtime for HLO, which is expensive, once a launch takes this long: without an
// update a job with long launches would pay for that in each of them.
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
  if (const auto* heartbeat = std::get_if<wire::Heartbeat>(&event.message)) {
    OnHeartbeat(member, *heartbeat);
  } else if (const auto* alarm = std::get_if<wire::Alarm>(&event.message)) {
    OnAlarm(member, *alarm);
  } else if (std::holds_alternative<wire::Leaving>(event.message)) {
    job_.membership.AnnounceLeave(member.hello.worker);
  } else if (const auto* question = std::get_if<wire::WhoIs>(&event.message)) {
    turn_.Emit(Send{*member.stream, job_.addresses.Answer(*question)});
  } else {
    return watch_.OnReply(member, event);
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
    // A process of the past has no effect, unless its work turns out to go on.
    if (!job_.progress.Advanced(worker, agent, heartbeat)) return;
    job_.incarnation.Rejoin(worker);
  }
  const WorkerProgress* before = job_.progress.Find(worker);
  const int64_t completed = before == nullptr ? 0 : before->completed;
  const auto last_completion = before == nullptr ? std::nullopt : before->last_completion;
  const bool advanced = job_.progress.Observe(worker, agent, heartbeat, turn_.monotonic());
  if (advanced && last_completion.has_value()) {
    const WorkerProgress& known = *job_.progress.Find(worker);
    if (known.step_took.has_value()) {
      job_.launch_times.Add(1, *known.step_took, turn_.monotonic());
    } else if (known.runtime_answers) {
      job_.launch_times.Add(known.completed - completed, *known.last_completion - *last_completion,
                            turn_.monotonic());
    }
  }
  watch_.OnHeartbeat(worker, heartbeat, advanced);
}

void CoordinatorCore::ShowIncarnation(const WorkerId& worker, const std::string& key, bool given) {
  if (job_.incarnation.Observe(worker, key, given, job_.progress.hosts())) OnJobRestart();
}

void CoordinatorCore::OnJobRestart() {
  ++job_.counters.job_restarts;
  turn_.Info(absl::StrCat("the job has restarted, incarnation ",
                          Quoted(job_.incarnation.Id().value_or("unknown"))));
  job_.progress.Forget();
  job_.learning.Forget();
  job_.started = turn_.monotonic();
  job_.start_up_not_before = -absl::InfiniteDuration();
  watch_.OnJobRestart();
}

void CoordinatorCore::OnAlarm(const Member& member, const wire::Alarm& alarm) {
  ++job_.counters.alarms;
  const std::string why = absl::StrCat(DebugName(member), " reports ", Quoted(alarm.text));
  // In a hang thousands of agents may raise the same alarm: WarnOfPeer limits the lines.
  WarnOfPeer(why);
  watch_.OnAlarm(member.hello.worker, {alarm.kind, why});
}

// The end --------------------------------------------------------------------------

void CoordinatorCore::On(const IncidentConcluded& event) {
  watch_.On(event);
  CloseAllIfStopped();
}

void CoordinatorCore::On(const IncidentUnreadable& event) {
  watch_.On(event);
  CloseAllIfStopped();
}

void CoordinatorCore::On(const Stop&) {
  watch_.Stop();
  CloseAllIfStopped();
}

// Workers that were collected from for an incident must still get its end.
void CoordinatorCore::CloseAllIfStopped() {
  if (!watch_.stopping() || watch_.concluding()) return;
  streams_.CloseAll(absl::UnavailableError("the coordinator is stopping"), turn_.effects());
}

}  // namespace rapideye::coordinator

#include "agent/core/agent_core.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "agent/core/incarnation.h"
#include "agent/core/snapshot_builder.h"
#include "agent/sources/limits.h"
#include "agent/sources/tcp/limits.h"

namespace rapideye::agent {
namespace {

absl::string_view Name(RuntimeState state) {
  switch (state) {
    case RuntimeState::kServing:
      return "SERVING";
    case RuntimeState::kUnavailable:
      return "UNAVAILABLE";
    case RuntimeState::kTimedOut:
      return "TIMED_OUT";
    case RuntimeState::kUnimplemented:
      return "UNIMPLEMENTED";
    case RuntimeState::kUnspecified:
      break;
  }
  return "not read yet";
}

size_t Obstacles(const wire::Heartbeat& heartbeat) {
  return heartbeat.start_up.has_value() ? heartbeat.start_up->obstacles.size() : 0;
}

// True if the coordinator acts on the difference; other changes wait for their turn.
bool Moved(const wire::Heartbeat& a, const wire::Heartbeat& b) {
  return a.process_incarnation != b.process_incarnation || a.runtime.state != b.runtime.state ||
         a.launches_completed != b.launches_completed || a.launch_in_flight != b.launch_in_flight ||
         a.attentive != b.attentive || Obstacles(a) != Obstacles(b) ||
         a.step_lines.has_value() != b.step_lines.has_value() ||
         AnnouncesPause(a.progress) != AnnouncesPause(b.progress);
}

// True if the present process has completed a launch, or a step of which its log tells.
bool HasStarted(const WorkerView& view, const HostState& host) {
  return view.last_completion().has_value() || host.Of<LogState>().advances() > 0;
}

void FollowStartUp(const RuntimeReading& reading, const WorkerView& view, absl::Duration now,
                   HostState& host) {
  auto& start_up = host.Of<StartUpState>();
  if (HasStarted(view, host)) {
    start_up.Complete();
    return;
  }
  if (reading.sample.has_value() && !reading.sample->cores.empty()) start_up.ServesCores(now);
  const std::optional<Progress> page = host.Of<ProgressPageState>().Now(now);
  // A program that was launched has been compiled.
  const bool compiled = view.EverLaunched();
  if (compiled || (page.has_value() && page->phase == Phase::kCompile)) start_up.Compiles(now);
}

// The deepest look that stacks may take: a process that advances is never stopped. A process that
// stands still has exceeded the longest time that a launch or a step usually takes.
StackLook DeepestLook(const WorkerView& view, const HostState& host, absl::Duration usual,
                      absl::Duration now) {
  const std::optional<wire::StepLines> lines = host.Of<LogState>().Steps(now);
  if (lines.has_value() && lines->since_advance < std::max(usual, lines->longest.value_or(usual))) {
    return StackLook::kReading;
  }
  std::optional<absl::Duration> advanced = host.Of<ProgressPageState>().last_advance();
  if (view.EverLaunched()) {
    advanced = std::max(advanced.value_or(view.last_progress()), view.last_progress());
  }
  const bool pauses = host.Of<ProgressPageState>().AnnouncesPause() && !view.AnyInLaunch();
  if (!advanced.has_value() || pauses) return StackLook::kIfIdle;
  return now - *advanced >= usual ? StackLook::kStopping : StackLook::kReading;
}

// Where neither launches nor steps are known, the work of the process tells whether it advances.
bool WorkTells(const RuntimeHealth& health, const WorkerView& view, const HostState& host,
               absl::Duration now) {
  const std::optional<Progress> page = host.Of<ProgressPageState>().Now(now);
  return !view.EverLaunched() && health.state != RuntimeState::kServing &&
         !host.Of<LogState>().Steps(now).has_value() &&
         !(page.has_value() && page->step.has_value());
}

}  // namespace

AgentCore::AgentCore(AgentSettings settings)
    : settings_(std::move(settings)),
      view_(absl::StrCat(absl::Hex(settings_.hello.agent_incarnation))),
      link_(settings_.has_coordinator, settings_.seed),
      texts_(settings_.hello.hlo_dumps),
      probes_(settings_.probes),
      inherited_(std::exchange(settings_.kept, std::nullopt), settings_.hello) {
  incident_.Restore(inherited_.Incident());
  incident_kept_ = incident_.memory();
}

Effects AgentCore::Step(const Event& event, Instant now) {
  Effects effects;
  if (shut_down_) return effects;
  inherited_.Expire(now.monotonic);
  std::visit([&](const auto& e) { Handle(e, now, effects); }, event);
  if (!shut_down_) Advance(now, effects);
  PlanWake(now.monotonic);
  return effects;
}

Snapshot AgentCore::Describe(Instant now, bool all_groups) const {
  Snapshot snapshot = BuildSnapshot(settings_.hello, health_, view_, now);
  host_.AddTo(snapshot, now);
  AddCollectives(view_, host_.Of<ProgressPageState>().slice_devices(), all_groups, snapshot);
  inherited_.Describe(now, snapshot);
  texts_.AddTo(snapshot);
  if (!WorkTells(health_, view_, host_, now.monotonic)) return snapshot;
  if (const auto activity = host_.activity().Now(now.monotonic); activity.has_value()) {
    snapshot.work = Work{.since_ms = absl::ToInt64Milliseconds(activity->since_advance)};
    if (activity->longest.has_value()) {
      snapshot.work->longest_ms = absl::ToInt64Milliseconds(*activity->longest);
    }
  }
  if (const auto since = host_.activity().SinceAnyWork(now.monotonic); since.has_value()) {
    snapshot.only_waits_ms = absl::ToInt64Milliseconds(*since);
  }
  return snapshot;
}

bool AgentCore::MayEnd() const {
  const std::optional<absl::Duration> ended = host_.Of<TrainingProcess>().ended_at();
  if (!ended.has_value() || host_.Of<TrainingProcess>().end_awaited()) return false;
  // The agent stays for the coordinator's second question and answers how the process ended: a
  // worker that vanished before that could as well have been lost.
  const std::optional<wire::IncidentMemory>& incident = incident_.memory();
  const bool open = link_.up() && incident.has_value() && !incident->concluded;
  const bool awaited = open && requests_.AwaitedSince(*ended);
  return link_.refused() || (!alarms_.Pending(*ended) && !awaited);
}

// Events ----------------------------------------------------------------------

void AgentCore::Handle(const RuntimeSampled& sampled, Instant now, Effects& effects) {
  if (!poll_.has_value() || poll_->number != sampled.poll) return;
  if (!poll_->host_seen) {
    poll_->reading = sampled.reading;
    poll_->give_up_at = now.monotonic + kHostGrace;
    return;
  }
  const PollUnderWay poll = *std::exchange(poll_, std::nullopt);
  Finish(poll, sampled.reading, now, effects);
}

void AgentCore::Handle(const LogsRead& read, Instant now, Effects& effects) {
  auto& logs = host_.Of<LogState>();
  const std::optional<wire::IncidentMemory>& incident = incident_.memory();
  if (incident.has_value() && incident->concluded) logs.MeasureAnew();
  const int64_t before = logs.advances();
  host_.Observe(read.reading, now.monotonic, view_, alarms_, effects);
  // Where a device runs something, its launches are the progress.
  if (logs.advances() == before || view_.EverLaunched()) return;
  host_.Of<TrainingProcess>().JobProgressed();
  incident_.Progressed();
  inherited_.Progressed();
}

void AgentCore::Handle(const ModuleTextFetched& fetched, Instant, Effects& effects) {
  texts_.Fetched(fetched, effects);
}

void AgentCore::Handle(const HostSampled& sampled, Instant now, Effects& effects) {
  host_owes_answer_ = false;
  HostReading reading = sampled.reading;
  if (auto& sockets = reading.Of<SocketReading>(); sockets.has_value()) {
    peers_.Resolve(settings_.hello.worker, now.monotonic, *sockets);
    if (link_.up()) peers_.Ask(now.monotonic, effects);
  }
  const std::optional<wire::IncidentMemory>& incident = incident_.memory();
  if (incident.has_value() && incident->concluded) host_.MeasureActivityAnew();
  const int64_t worked = host_.activity().advances();
  host_.Observe(reading, now.monotonic, view_, alarms_, effects);
  if (host_.activity().advances() > worked && WorkTells(health_, view_, host_, now.monotonic)) {
    host_.Of<TrainingProcess>().JobProgressed();
    incident_.Progressed();
    inherited_.Progressed();
  }
  if (const auto& nics = reading.Of<NicReading>(); nics.has_value() && nics->addresses) {
    Announce(*nics->addresses, now.monotonic, effects);
  }
  if (!poll_.has_value() || poll_->number != sampled.poll) return;
  poll_->host_seen = true;
  if (!poll_->reading.has_value()) return;
  const PollUnderWay poll = *std::exchange(poll_, std::nullopt);
  Finish(poll, *poll.reading, now, effects);
}

void AgentCore::Announce(const std::vector<wire::HostAddress>& addresses, absl::Duration now,
                         Effects& effects) {
  // While the job stands still, this worker must not be away.
  const bool wanted = InAttention(now) || requests_.NextWake() < absl::InfiniteDuration();
  if (addresses == settings_.hello.addresses || wanted) return;
  settings_.hello.addresses = addresses;
  effects.push_back(Log{LogLevel::kInfo, "the addresses of this host have changed"});
  link_.Renew(now, effects);
  peers_.Disconnected();
}

void AgentCore::Handle(const DumpsListed& listed, Instant, Effects& effects) {
  view_.Learn(listed.reading);
  texts_.Listed(listed, effects);
}

void AgentCore::Handle(const MessageReceived& received, Instant now, Effects& effects) {
  if (!link_.Accepts(received)) return;
  if (const auto* welcome = std::get_if<wire::Welcome>(&received.message)) {
    Handle(*welcome, now.monotonic, effects);
  } else if (const auto* collect = std::get_if<wire::Collect>(&received.message)) {
    Handle(*collect, now.monotonic);
  } else if (const auto* grant = std::get_if<wire::Grant>(&received.message)) {
    requests_.Grant(*grant, effects);
  } else if (const auto* hlo = std::get_if<wire::HloRequest>(&received.message)) {
    requests_.RequestHlo(*hlo, now.monotonic);
  } else if (const auto* text = std::get_if<wire::ModuleTextRequest>(&received.message)) {
    texts_.Request(*text, view_.modules(), now.monotonic, effects);
  } else if (const auto* cancel = std::get_if<wire::Cancel>(&received.message)) {
    requests_.Cancel(*cancel);
    texts_.Cancel(*cancel);
    probes_.Cancel(*cancel);
  } else if (const auto* probe = std::get_if<wire::ProbeRequest>(&received.message)) {
    probes_.Request(*probe, now.monotonic, effects);
  } else if (const auto* peers = std::get_if<wire::Peers>(&received.message)) {
    peers_.Learn(*peers);
  } else if (const auto* concluded = std::get_if<wire::Concluded>(&received.message)) {
    alarms_.Concluded();
    incident_.Concluded(concluded->incident, InAttention(now.monotonic), Process());
  }
}

void AgentCore::Handle(const wire::Collect& collect, absl::Duration now) {
  requests_.Collect(collect, last_poll_, now);
  if (settings_.watches_host) host_.Of<StacksState>().Collected(collect.incident, now);
  if (!collect.incident.has_value()) return;
  alarms_.Collected();
  incident_.Collected(*collect.incident, Process());
}

void AgentCore::Handle(const wire::Welcome& welcome, absl::Duration now, Effects& effects) {
  heartbeat_interval_ = std::clamp(welcome.heartbeat_interval, kFastestPoll, kSlowestPoll);
  attention_after_ = std::clamp(welcome.attention_after, kFastestPoll, kSlowestPoll);
  if (link_.up()) return;
  link_.Welcomed(now, effects);
  last_heartbeat_.reset();
  if (health_.state != RuntimeState::kUnspecified) SendHeartbeat(now, effects);
}

void AgentCore::Handle(const StreamClosed& closed, Instant now, Effects& effects) {
  if (!link_.Closed(closed, now.monotonic, effects)) return;
  alarms_.StreamClosed();
  requests_.Clear();
  peers_.Disconnected();
  texts_.Clear();
  probes_.Clear();
}

void AgentCore::Handle(const ShutdownRequested&, Instant now, Effects& effects) {
  shut_down_ = true;
  if (link_.up()) {
    // Alarms go first, since they are always taken: a snapshot without credit may cost the stream.
    alarms_.Send(now.monotonic, effects);
    if (requests_.NeedsSample()) requests_.Deliver(Describe(now), now.monotonic, effects);
    requests_.HandOver(effects);
    // An agent that is told to end while its process goes on is replaced, and comes back.
    if (host_.Of<TrainingProcess>().EndedOnPurpose())
      effects.push_back(Send{wire::Leaving{Process()}});
  }
  if (settings_.keeps_state) effects.push_back(Keep{State(now)});
  link_.ShutDown(effects);
}

// Polling ---------------------------------------------------------------------

bool AgentCore::InAttention(absl::Duration now) const {
  return view_.EverLaunched() && now - view_.last_progress() >= attention_after_;
}

bool AgentCore::WantsDetail(absl::Duration now) const {
  return InAttention(now) && !DetailTaken() && view_.AnyInLaunch() &&
         health_.state == RuntimeState::kServing;
}

bool AgentCore::WantsSockets(absl::Duration now) const {
  return settings_.watches_host && (requests_.NeedsSample() || now >= next_socket_look_);
}

// Counters are due at intervals, and for each new process, whose errors count from its start.
bool AgentCore::WantsCounters(absl::Duration now) const {
  const bool another = host_.process().has_value() && host_.process() != counted_for_;
  return settings_.watches_host && (another || now >= next_counter_look_);
}

absl::Duration AgentCore::UsualPeriod() const {
  return std::min(settings_.hello.poll_interval, heartbeat_interval_);
}

absl::Duration AgentCore::Period(absl::Duration now) const {
  const absl::Duration still = now - view_.last_progress();
  const bool fast = InAttention(now) && still < attention_after_ + kFastPollingFor;
  return fast || now < overdue_until_ ? std::min(kFastestPoll, UsualPeriod()) : UsualPeriod();
}

void AgentCore::Advance(Instant now, Effects& effects) {
  settings_.hello.incident = incident_.memory();
  link_.Advance(now.monotonic, settings_.hello, effects);
  const std::optional<absl::Duration> ended = host_.Of<TrainingProcess>().ended_at();
  if (ended.has_value() && now.monotonic - *ended <= kHurryFor && alarms_.Pending(*ended)) {
    link_.Hurry(now.monotonic);
  }
  requests_.Expire(now.monotonic);
  texts_.Expire(now.monotonic, effects);
  FinishOverdue(now, effects);
  AnswerOverdue(now, effects);
  if (!poll_.has_value()) StartPoll(now.monotonic, effects);
  if (link_.up()) alarms_.Send(now.monotonic, effects);
  KeepIfChanged(now, effects);
}

std::optional<std::string> AgentCore::Process() const {
  if (view_.incarnation().has_value()) return view_.incarnation();
  // A process that ended while this agent watched is still the subject of its reports.
  const std::optional<ProcessId> process = host_.Of<TrainingProcess>().last();
  return process.has_value() ? std::optional(NameProcess(*process)) : std::nullopt;
}

void AgentCore::Inherit(absl::Duration now) {
  const std::optional<std::string> process = Process();
  inherited_.Watching(process);
  if (process.has_value()) incident_.Watching(process);
  for (wire::Alarm& alarm : inherited_.TakeAlarms(now)) {
    alarms_.Raise(alarm.kind, std::move(alarm.text), now);
  }
}

bool AgentCore::KeepIsDue() const {
  return settings_.keeps_state && incident_.memory() != incident_kept_;
}

void AgentCore::KeepIfChanged(Instant now, Effects& effects) {
  if (!KeepIsDue() || now.monotonic < next_keep_at_) return;
  incident_kept_ = incident_.memory();
  next_keep_at_ = now.monotonic + kKeepSpacing;
  effects.push_back(Keep{State(now)});
}

SavedState AgentCore::State(Instant now) const {
  SavedState state;
  state.kept_at = now.monotonic;
  state.hello = settings_.hello;
  state.hello.incident = incident_.memory();
  state.alarms = alarms_.Waiting(now.monotonic);
  // A worker that still moves is observed anew by the next agent.
  if (incident_.memory().has_value() || InAttention(now.monotonic) || !state.alarms.empty()) {
    state.snapshot = Describe(now);
  }
  return state;
}

// Ends a poll that a sampler has not answered in time.
void AgentCore::FinishOverdue(Instant now, Effects& effects) {
  if (!poll_.has_value() || now.monotonic < poll_->give_up_at) return;
  PollUnderWay poll = *std::exchange(poll_, std::nullopt);
  if (!poll.host_seen) host_owes_answer_ = true;
  if (!poll.reading.has_value()) {
    poll.reading.emplace();
    poll.reading->health = {RuntimeState::kTimedOut, "the agent's own sampler is stuck"};
  }
  Finish(poll, *poll.reading, now, effects);
}

void AgentCore::StartPoll(absl::Duration now, Effects& effects) {
  if (requests_.NeedsSample() && now >= next_asked_at_) {
    const absl::Duration left = requests_.reply_by() - now;
    next_asked_at_ = now + kCollectSpacing;
    Begin(Purpose::kRoutine, std::min(kPollDeadline, left), now, effects);
  } else if (requests_.NeedsHlo() && now >= next_hlo_at_) {
    const absl::Duration left = requests_.hlo_reply_by() - now;
    Begin(Purpose::kHloRequest, std::min(kHloDeadline, left), now, effects);
  } else if (WantsDetail(now) && now >= next_hlo_at_) {
    Begin(Purpose::kDetail, kHloDeadline, now, effects);
  } else if (now >= next_poll_at_) {
    Begin(Purpose::kRoutine, kPollDeadline, now, effects);
  }
}

void AgentCore::Begin(Purpose purpose, absl::Duration deadline, absl::Duration now,
                      Effects& effects) {
  const bool with_hlo = purpose != Purpose::kRoutine;
  poll_ = PollUnderWay{++last_poll_,
                       purpose,
                       now,
                       now + deadline + kLostPollGrace,
                       view_.last_progress(),
                       !settings_.watches_host || host_owes_answer_,
                       std::nullopt};
  if (with_hlo) next_hlo_at_ = now + kHloSpacing;
  const bool collects = requests_.NeedsSample();
  const bool hang = collects || purpose == Purpose::kDetail;
  const HostLook look = {.sockets = WantsSockets(now),
                         .hang = hang,
                         .counters = hang || WantsCounters(now),
                         .stacks = settings_.watches_host && collects
                                       ? host_.Of<StacksState>().Ask(
                                             DeepestLook(view_, host_, attention_after_, now), now)
                                       : StackLook::kNone,
                         .starting = settings_.watches_host && !HasStarted(view_, host_),
                         .salt = collects ? requests_.salt() : ""};
  if (look.counters) {
    next_counter_look_ = now + kCounterSpacing;
    counted_for_ = host_.process();
  }
  if (look.sockets) {
    // Traffic is counted with every poll where no runtime tells whether the process works.
    const bool tells =
        settings_.watches_host && !view_.EverLaunched() && health_.state != RuntimeState::kServing;
    const int polls = tells ? 1 : kPollsPerSocketLook;
    next_socket_look_ = now + (InAttention(now) ? kSocketSpacing : polls * UsualPeriod());
  }
  effects.push_back(Poll{last_poll_, with_hlo, look, deadline});
  if (look.hang) {
    texts_.Look(!view_.last_sample().has_value(), host_.Of<TrainingProcess>().started_at(), now,
                effects);
  }
}

void AgentCore::Finish(const PollUnderWay& poll, const RuntimeReading& reading, Instant now,
                       Effects& effects) {
  Learn(poll, reading, now.monotonic, effects);
  FollowStartUp(reading, view_, now.monotonic, host_);
  Inherit(now.monotonic);
  if (view_.last_progress() != poll.progress) host_.JobProgressed();
  if (poll.purpose == Purpose::kHloRequest) {
    if (reading.sample.has_value()) {
      requests_.ReplyHlo(Describe(now, /*all_groups=*/true), "", effects);
    } else {
      requests_.ReplyHlo(std::nullopt,
                         absl::StrCat(Name(reading.health.state), ": ",
                                      reading.health.detail.value_or("no answer")),
                         effects);
    }
  }
  if (poll.purpose == Purpose::kRoutine && requests_.NeedsPoll(poll.number) &&
      !host_.Of<StacksState>().WorthWaiting(now.monotonic) &&
      !texts_.WorthWaiting(poll.started, now.monotonic)) {
    requests_.Deliver(Describe(now), now.monotonic, effects);
  }
  if (view_.LaunchOverdue(now.monotonic) && now.monotonic >= next_overdue_) {
    overdue_until_ = now.monotonic + kOverduePollingFor;
    next_overdue_ = now.monotonic + kOverdueSpacing;
  }
  next_poll_at_ = poll.started + Period(now.monotonic);
  SendHeartbeat(now.monotonic, effects);
}

void AgentCore::Learn(const PollUnderWay& poll, const RuntimeReading& reading, absl::Duration now,
                      Effects& effects) {
  const bool routine = poll.purpose == Purpose::kRoutine;
  // A healthy runtime may take too long to put HLO together: only the failure of a usual
  // poll tells that it does not serve.
  if (routine || reading.sample.has_value()) {
    health_ = reading.health;
    LogHealth(now, effects);
  }
  if (routine && health_.state == RuntimeState::kUnavailable) view_.RuntimeGone();
  if (!routine) detail_taken_for_ = poll.progress;
  if (reading.sample.has_value()) RaiseNewErrors(*reading.sample, now);
  if (!reading.sample.has_value()) return;
  const std::optional<absl::Duration> completion = view_.last_completion();
  if (view_.Observe(*reading.sample, now)) {
    effects.push_back(Log{LogLevel::kInfo, absl::StrCat("watching training process ",
                                                        view_.incarnation().value_or(""))});
    incident_.Watching(view_.incarnation());
  } else if (view_.last_completion() != completion) {
    incident_.Progressed();
    inherited_.Progressed();
  }
  // A hang that heals must not count as a long launch or pause: it would raise the
  // threshold for the next hang.
  // A suspicion that was collected and turned out to be no hang does count.
  if (incident_.memory().has_value() && incident_.memory()->concluded) view_.MeasureAnew(now);
}

// Raises errors that the runtime reports for a core and did not before.
void AgentCore::RaiseNewErrors(const RuntimeSample& sample, absl::Duration now) {
  for (const CoreSample& core : sample.cores) {
    if (!core.error.has_value() || core.error->empty()) continue;
    const auto known = [&core](const CoreSample& before) {
      return before.id == core.id && before.error == core.error;
    };
    const std::optional<RuntimeSample>& last = view_.last_sample();
    if (last.has_value() && std::any_of(last->cores.begin(), last->cores.end(), known)) continue;
    alarms_.Raise(wire::AlarmKind::kCoreHalt, *core.error, now);
  }
}

// Answers requests whose time is up with the evidence that is there.
void AgentCore::AnswerOverdue(Instant now, Effects& effects) {
  if (requests_.NeedsSample() && now.monotonic >= requests_.reply_by()) {
    Snapshot snapshot = Describe(now);
    if (!snapshot.runtime.detail.has_value()) {
      snapshot.runtime.detail = "as of the poll before: the agent had no time for another one";
    }
    requests_.Deliver(std::move(snapshot), now.monotonic, effects);
  }
  if (requests_.NeedsHlo() && now.monotonic >= requests_.hlo_reply_by()) {
    requests_.ReplyHlo(std::nullopt, "no answer from the runtime in time", effects);
  }
}

// Telling ---------------------------------------------------------------------

void AgentCore::SendHeartbeat(absl::Duration now, Effects& effects) {
  if (!link_.up()) return;
  wire::Heartbeat heartbeat;
  heartbeat.runtime = health_;
  view_.Describe(now, heartbeat);
  heartbeat.progress = host_.Of<ProgressPageState>().Now(now);
  heartbeat.step_lines = host_.Of<LogState>().Steps(now);
  heartbeat.start_up = host_.Of<StartUpState>().Now(now);
  heartbeat.activity = host_.activity().Now(now);
  heartbeat.since_any_work = host_.activity().SinceAnyWork(now);
  // A runtime that has never answered may still have its process.
  if (!heartbeat.process_incarnation.has_value()) heartbeat.process_incarnation = Process();
  heartbeat.attentive = InAttention(now) && DetailTaken();
  // While it polls fast, the agent sends a heartbeat only when its content has changed.
  const bool due = now >= last_heartbeat_at_ + UsualPeriod() || Period(now) == UsualPeriod();
  if (last_heartbeat_.has_value() && !due && !Moved(*last_heartbeat_, heartbeat)) return;
  last_heartbeat_ = heartbeat;
  last_heartbeat_at_ = now;
  effects.push_back(Send{std::move(heartbeat)});
}

void AgentCore::LogHealth(absl::Duration now, Effects& effects) {
  const bool told = logged_health_.has_value() && logged_health_->state == health_.state &&
                    logged_health_->detail.has_value() == health_.detail.has_value();
  if (told || now < next_health_log_at_) return;
  const bool well = health_.state == RuntimeState::kServing && !health_.detail.has_value();
  std::string text = absl::StrCat("the TPU runtime is ", Name(health_.state));
  if (health_.detail.has_value()) absl::StrAppend(&text, ": ", *health_.detail);
  effects.push_back(Log{well ? LogLevel::kInfo : LogLevel::kWarning, std::move(text)});
  logged_health_ = health_;
  next_health_log_at_ = now + kHealthLogSpacing;
}

void AgentCore::PlanWake(absl::Duration now) {
  next_wake_ = absl::InfiniteDuration();
  if (shut_down_) return;
  next_wake_ = std::min({link_.NextWake(), requests_.NextWake(), texts_.NextWake()});
  if (KeepIsDue()) next_wake_ = std::min(next_wake_, next_keep_at_);
  if (poll_.has_value()) {
    next_wake_ = std::min(next_wake_, poll_->give_up_at);
    return;
  }
  next_wake_ = std::min(next_wake_, next_poll_at_);
  if (requests_.NeedsSample()) next_wake_ = std::min(next_wake_, next_asked_at_);
  // HLO for a request or for detail waits only for the spacing of HLO requests.
  if (requests_.NeedsHlo() || WantsDetail(now)) next_wake_ = std::min(next_wake_, next_hlo_at_);
  const absl::Duration attention_at = view_.last_progress() + attention_after_;
  if (view_.EverLaunched() && attention_at > now) next_wake_ = std::min(next_wake_, attention_at);
}

}  // namespace rapideye::agent

#include "tests/support/fake_job.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {

FakeJob::FakeJob(Options options, int slices, int tasks)
    : options_(options), core_(std::make_unique<CoordinatorCore>(std::move(options))) {
  now_.monotonic = absl::Seconds(1000);
  now_.wall = absl::FromUnixSeconds(1'800'000'000);
  for (int slice = 0; slice < slices; ++slice) {
    for (int task = 0; task < tasks; ++task) {
      FakeAgent& agent = Add({slice, task});
      agent.hello.slices = slices;
      agent.hello.tasks_per_slice = tasks;
    }
  }
  ConnectAll();
}

void FakeJob::ConnectAll() {
  for (auto& [id, agent] : agents_) {
    if (agent.stream == 0) Connect(agent);
  }
}

FakeAgent& FakeJob::Add(const WorkerId& worker) {
  FakeAgent& agent = agents_[worker];
  agent.hello.job = "job";
  agent.hello.worker = worker;
  agent.hello.host = absl::StrCat("host-", worker.slice, "-", worker.task);
  agent.hello.agent_incarnation = 10;
  agent.hello.poll_interval = absl::Seconds(1);
  return agent;
}

void FakeJob::RestartCoordinator(Options options) {
  options_ = options;
  core_ = std::make_unique<CoordinatorCore>(std::move(options));
  by_stream_.clear();
  outbox_.clear();
  for (auto& [id, agent] : agents_) agent.stream = 0;
}

void FakeJob::Connect(FakeAgent& agent) {
  HelloOnNewStream(agent);
  if (agent.stream != 0) Heartbeat(agent);
}

StreamId FakeJob::OpenStream(const std::string& address) {
  const StreamId stream = next_stream_++;
  const std::string own =
      absl::StrCat("10.", stream / 65536 % 256, ".", stream / 256 % 256, ".", stream % 256);
  Step(StreamOpened{.stream = stream, .peer = absl::StrCat(address.empty() ? own : address, ":1")});
  return stream;
}

void FakeJob::HelloOnNewStream(FakeAgent& agent) {
  agent.stream = OpenStream(agent.address);
  agent.closed.reset();
  agent.hello.incident = agent.memory;
  ++agent.connection;
  agent.hello.connection.reset();
  if (agent.hello.protocol_version >= 2) agent.hello.connection = agent.connection;
  by_stream_[agent.stream] = agent.hello.worker;
  Say(agent, agent.hello);
}

void FakeJob::Disconnect(FakeAgent& agent) {
  const StreamId stream = std::exchange(agent.stream, 0);
  by_stream_.erase(stream);
  Step(StreamClosed{stream});
}

void FakeJob::Say(FakeAgent& agent, wire::AgentMessage message, int64_t bytes) {
  Step(MessageReceived{.stream = agent.stream, .message = std::move(message), .bytes = bytes});
}

void FakeJob::Step(Event event) {
  Apply(core_->Step(std::move(event), now_));
  while (!outbox_.empty()) {
    auto [worker, message] = std::move(outbox_.front());
    outbox_.erase(outbox_.begin());
    FakeAgent& agent = agents_.at(worker);
    if (agent.stream == 0) continue;
    Apply(core_->Step(
        MessageReceived{.stream = agent.stream, .message = std::move(message), .bytes = 1000},
        now_));
  }
}

void FakeJob::Apply(Effects effects) {
  const auto worker_of = [this](StreamId stream) -> std::optional<WorkerId> {
    const auto found = by_stream_.find(stream);
    if (found == by_stream_.end()) return std::nullopt;
    return found->second;
  };
  for (Effect& effect : effects) {
    if (observer_) {
      const auto* send = std::get_if<Send>(&effect);
      const auto* close = std::get_if<Close>(&effect);
      observer_(effect, worker_of(send != nullptr    ? send->stream
                                  : close != nullptr ? close->stream
                                                     : StreamId{0}));
    }
    if (auto* send = std::get_if<Send>(&effect)) {
      auto worker = by_stream_.find(send->stream);
      if (worker != by_stream_.end()) Receive(agents_.at(worker->second), send->message);
    } else if (auto* close = std::get_if<Close>(&effect)) {
      auto worker = by_stream_.find(close->stream);
      if (worker == by_stream_.end()) continue;
      FakeAgent& agent = agents_.at(worker->second);
      if (agent.stream == close->stream) {
        agent.closed = close->status;
        agent.stream = 0;
      }
      by_stream_.erase(worker);
    } else if (auto* conclude = std::get_if<Conclude>(&effect)) {
      concluded_.push_back(std::move(*conclude));
    } else if (auto* gathered = std::get_if<TextsGathered>(&effect)) {
      gathered_.push_back(std::move(*gathered));
    } else if (auto* retell = std::get_if<Retell>(&effect)) {
      retold_.push_back(std::move(retell->incident_id));
    } else if (auto* status = std::get_if<StatusReport>(&effect)) {
      statuses_.push_back(std::move(*status));
    } else if (auto* examine = std::get_if<Examine>(&effect)) {
      examined_.push_back(std::move(*examine));
    } else if (auto* answered = std::get_if<SnapshotAnswered>(&effect)) {
      answered_.push_back(std::move(*answered));
    } else if (auto* paused = std::get_if<PauseAnswered>(&effect)) {
      pauses_.push_back(std::move(*paused));
    } else if (auto* changed = std::get_if<PauseChanged>(&effect)) {
      kept_pause_ = std::move(changed->pause);
    } else if (auto* learnt = std::get_if<PausesLearnt>(&effect)) {
      kept_pauses_ = std::move(learnt->pauses);
    } else if (auto* ended = std::get_if<IncidentEnded>(&effect)) {
      ended_.push_back(std::move(*ended));
    } else if (auto* refused = std::get_if<SnapshotRefused>(&effect)) {
      refused_.push_back(std::move(*refused));
    } else if (auto* log = std::get_if<Log>(&effect)) {
      log_.push_back(std::move(log->text));
    }
  }
}

void FakeJob::Receive(FakeAgent& agent, const wire::CoordinatorMessage& message) {
  agent.inbox.push_back(message);
  if (const auto* collect = std::get_if<wire::Collect>(&message)) {
    if (collect->incident.has_value()) agent.memory = {*collect->incident, false, agent.process};
  } else if (const auto* told = std::get_if<wire::Concluded>(&message)) {
    agent.memory = {told->incident, true, agent.process};
  }
  if (!agent.answers) return;
  const WorkerId worker = agent.hello.worker;
  if (const auto* collect = std::get_if<wire::Collect>(&message)) {
    if (collect->credit && !agent.grants_only) {
      outbox_.emplace_back(worker, wire::SnapshotReply{collect->collection, Show(agent)});
    } else if (!collect->credit) {
      outbox_.emplace_back(worker, wire::SampleReady{collect->collection, 1000});
    }
  } else if (const auto* grant = std::get_if<wire::Grant>(&message)) {
    if (!agent.grants_only) {
      outbox_.emplace_back(worker, wire::SnapshotReply{grant->collection, Show(agent)});
    }
    const size_t in_flight =
        static_cast<size_t>(std::count_if(outbox_.begin(), outbox_.end(), [](const auto& entry) {
          return std::holds_alternative<wire::SnapshotReply>(entry.second);
        }));
    most_in_flight_ = std::max(most_in_flight_, in_flight);
  } else if (const auto* hlo = std::get_if<wire::HloRequest>(&message)) {
    Snapshot snapshot = Show(agent);
    for (Program& program : snapshot.programs) program.module = "jit_" + program.fingerprint;
    for (Core& core : snapshot.cores) {
      for (Sequencer& sequencer : core.sequencers) sequencer.hlo = "all-reduce.3";
    }
    outbox_.emplace_back(worker, wire::HloReply{hlo->collection, std::move(snapshot), ""});
  } else if (const auto* text = std::get_if<wire::ModuleTextRequest>(&message)) {
    wire::ModuleTextReply reply{text->collection, std::nullopt, "there is no dump of it"};
    if (!agent.dump.empty()) {
      reply = {text->collection, wire::ModuleText{agent.dump, HloMatch::kOnlyDump, "gzip", false},
               ""};
    }
    outbox_.emplace_back(worker, std::move(reply));
  }
}

Snapshot FakeJob::Show(const FakeAgent& agent) const {
  Snapshot snapshot;
  snapshot.worker = agent.hello.worker;
  snapshot.host = agent.hello.host;
  snapshot.incarnation = agent.process;
  snapshot.runtime.state = agent.runtime;
  snapshot.processes = agent.processes;
  snapshot.programs.push_back({.module = std::nullopt, .fingerprint = agent.programs.front()});
  Core core;
  core.chip = 0;
  core.type = CoreType::kTensorCore;
  Sequencer sequencer;
  sequencer.type = SequencerType::kTensorCoreSequencer;
  sequencer.tag = 7;
  if (agent.in_flight) {
    core.program = 0;
    core.launch_id = agent.launch_id;
    sequencer.pc = agent.pc;
  }
  core.sequencers.push_back(sequencer);
  snapshot.cores.push_back(core);
  return snapshot;
}

void FakeJob::Heartbeat(FakeAgent& agent) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = agent.process;
  heartbeat.runtime.state = agent.runtime;
  heartbeat.launches_completed = agent.completed;
  if (agent.last_completion.has_value()) {
    heartbeat.since_completion = now_.monotonic - *agent.last_completion;
  }
  heartbeat.launch_in_flight = agent.in_flight;
  for (const std::string& program : agent.programs) {
    heartbeat.programs.push_back({.module = std::nullopt,
                                  .fingerprint = program,
                                  .completed = agent.completed,
                                  .longest = absl::Seconds(1)});
  }
  if (agent.in_flight) {
    if (!agent.new_program.empty()) {
      heartbeat.queue.push_back({.fingerprint = agent.new_program, .launch_id = 1});
    }
    // Two steps ahead, as hosts dispatch.
    for (int32_t ahead = 0; ahead < 2; ++ahead) {
      for (const std::string& program : agent.programs) {
        heartbeat.queue.push_back({.fingerprint = program, .launch_id = agent.launch_id + ahead});
      }
    }
  }
  if (agent.phase.has_value()) {
    rapideye::Progress& progress = heartbeat.progress.emplace();
    progress.phase = *agent.phase;
    progress.phase_ms = absl::ToInt64Milliseconds(now_.monotonic - agent.phase_began);
  }
  Say(agent, std::move(heartbeat), 100);
}

void FakeJob::Enter(FakeAgent& agent, Phase phase) {
  agent.phase = phase;
  agent.phase_began = now_.monotonic;
}

void FakeJob::Complete(FakeAgent& agent) {
  ++agent.completed;
  agent.memory.reset();
  ++agent.launch_id;
  agent.last_completion = now_.monotonic;
}

// More ticks than that at one time are no progress from one state to the next.
constexpr int kMostTicksAtOnce = 1000;

void FakeJob::Run(absl::Duration time, absl::Duration poll) {
  const absl::Duration end = now_.monotonic + time;
  absl::Duration next_poll = now_.monotonic + poll;
  int ticks_at_once = 0;
  while (now_.monotonic < end) {
    const absl::Duration wake = core_->NextWake(now_.monotonic);
    absl::Duration next = std::max(now_.monotonic, std::min({wake, next_poll, end}));
    ticks_at_once = next > now_.monotonic ? 0 : ticks_at_once + 1;
    if (ticks_at_once > kMostTicksAtOnce) {
      never_sleeps_ = true;
      next = std::min(next_poll, end);
    }
    now_.wall += next - now_.monotonic;
    now_.monotonic = next;
    if (next == next_poll) {
      for (auto& [id, agent] : agents_) {
        if (agent.advancing) Complete(agent);
        if (agent.stream != 0) Heartbeat(agent);
      }
      next_poll += poll;
    }
    Step(Tick{});
  }
}

bool FakeJob::RunUntilConclude(absl::Duration limit, absl::Duration poll) {
  const size_t before = concluded_.size();
  const absl::Duration end = now_.monotonic + limit;
  while (now_.monotonic < end && concluded_.size() == before) Run(poll, poll);
  return concluded_.size() > before;
}

void FakeJob::Freeze() {
  for (auto& [id, agent] : agents_) agent.advancing = false;
}

void FakeJob::Thaw() {
  for (auto& [id, agent] : agents_) agent.advancing = true;
}

void FakeJob::WantTexts(std::vector<ProgramSide> sides) {
  Step(TextsWanted{.incident_id = concluded_.back().incident_id, .sides = std::move(sides)});
}

void FakeJob::Concluded(bool hang, std::optional<ToldVerdict> verdict) {
  Step(IncidentConcluded{
      .incident_id = concluded_.back().incident_id, .hang = hang, .verdict = std::move(verdict)});
}

bool FakeJob::Logged(const std::string& part) const {
  return std::any_of(log_.begin(), log_.end(),
                     [&](const std::string& line) { return absl::StrContains(line, part); });
}

Options Quick() {
  Options options;
  options.thresholds.launch = absl::Seconds(4);
  return options;
}

FakeJob Frozen() {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  return job;
}

}  // namespace rapideye::coordinator

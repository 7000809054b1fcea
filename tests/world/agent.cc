#include "tests/world/agent.h"

#include "absl/strings/str_cat.h"

namespace rapideye::world {
namespace {

constexpr size_t kChangesKept = 8;

int64_t Milliseconds(double seconds) { return static_cast<int64_t>(seconds * 1000); }

bool Answers(const HostState& host) {
  return host.process == HostState::Process::kWorks || host.process == HostState::Process::kRaised;
}

}  // namespace

Agent::Agent(const Engine& engine, int worker) : engine_(engine), worker_(worker) {
  for (size_t i = 0; i < engine.cores().size(); ++i) {
    if (engine.cores()[i].worker == worker) {
      cores_.push_back({.core = static_cast<int>(i)});
    }
  }
}

int32_t Agent::LaunchId(const Launch& launch) const {
  const Program& program = engine_.plan().programs[static_cast<size_t>(launch.program)];
  return static_cast<int32_t>(static_cast<uint32_t>(program.first_launch) +
                              static_cast<uint32_t>(launch.ordinal));
}

Agent::Position Agent::PositionOf(const CoreState& core) const {
  if (!core.current.has_value()) {
    return {};
  }
  const Instruction& instruction = engine_.At(core);
  Position position{.program = core.current->program,
                    .launch_id = LaunchId(*core.current),
                    .number = core.current->number,
                    .pc = instruction.pc + kRingStepBytes * engine_.RingSteps(core),
                    .tag = instruction.tag,
                    .tracemark = static_cast<int64_t>(core.at)};
  if (core.looping) {
    position.pc += polls_ % 3 * 4;
  }
  return position;
}

void Agent::See(Seen& seen) {
  const CoreState& core = engine_.cores()[static_cast<size_t>(seen.core)];
  const double now = engine_.now();
  const Position position = PositionOf(core);
  if (polls_ == 0 || !(position == seen.position)) {
    seen.position = position;
    seen.since = now;
    seen.changes.push_back({now, polls_ == 0 ? 0 : now - last_poll_, position});
    if (seen.changes.size() > kChangesKept) {
      seen.changes.pop_front();
    }
  }
  if (core.completed != seen.completed) {
    seen.completed = core.completed;
    seen.completed_since = now;
  }
  seen.last = core.last;
  seen.queue.assign(core.queue.begin(), core.queue.end());
  seen.error = core.error;
}

void Agent::Poll() {
  const HostState& host = engine_.hosts()[static_cast<size_t>(worker_)];
  if (!Answers(host)) {
    const bool ended =
        host.process == HostState::Process::kEnded || host.process == HostState::Process::kAbsent;
    runtime_ = ended ? RuntimeState::kUnavailable : RuntimeState::kTimedOut;
    return;
  }
  runtime_ = RuntimeState::kServing;
  for (Seen& seen : cores_) {
    See(seen);
  }
  last_poll_ = engine_.now();
  ++polls_;
}

Core Agent::Describe(const Seen& seen, int index) const {
  const CoreState& state = engine_.cores()[static_cast<size_t>(seen.core)];
  const Shape& shape = engine_.plan().shape;
  const bool old = engine_.plan().evidence.old_runtime;
  const double now = engine_.now();
  const bool idle = seen.position.program < 0;
  Core core;
  core.chip = shape.chip_of(state.device);
  core.type = state.sparse >= 0 ? CoreType::kSparseCore : CoreType::kTensorCore;
  core.index = index;
  Sequencer sequencer;
  sequencer.type =
      state.sparse >= 0 ? SequencerType::kSparseCoreSequencer : SequencerType::kTensorCoreSequencer;
  sequencer.pc = seen.position.pc;
  sequencer.frozen_ms = Milliseconds(now - seen.since);
  if (!idle) {
    core.program = seen.position.program;
    sequencer.tag = seen.position.tag;
  }
  if (!old) {
    sequencer.tracemark = seen.position.tracemark;
    core.stuck_ms = Milliseconds(now - seen.completed_since);
    if (!idle) {
      core.launch_id = seen.position.launch_id;
      sequencer.run_id = 100 + seen.position.number;
    } else if (seen.last.has_value() && state.sparse < 0) {
      core.program = seen.last->program;
      core.launch_id = LaunchId(*seen.last);
    }
    for (const Launch& launch : seen.queue) {
      core.queued.push_back({.program = launch.program,
                             .launch_id = LaunchId(launch),
                             .run_id = 100 + launch.number});
    }
    for (const Change& change : seen.changes) {
      Transition transition{.age_ms = Milliseconds(now - change.at)};
      if (change.within > 0) {
        transition.within_ms = Milliseconds(change.within);
      }
      if (change.position.program >= 0) {
        transition.program = change.position.program;
        transition.launch_id = change.position.launch_id;
      }
      transition.pc = change.position.pc;
      core.transitions.push_back(std::move(transition));
    }
  }
  if (!seen.error.empty()) {
    core.error = seen.error;
  }
  core.sequencers.push_back(std::move(sequencer));
  return core;
}

// The programs are the plan's, so that their numbers are, too.
void Agent::Describe(Snapshot& snapshot) const {
  const Shape& shape = engine_.plan().shape;
  snapshot.runtime.state = runtime_;
  if (polls_ == 0) {
    return;
  }
  for (const Program& program : engine_.plan().programs) {
    snapshot.programs.push_back({.module = program.module, .fingerprint = program.fingerprint});
  }
  for (const Seen& seen : cores_) {
    const CoreState& state = engine_.cores()[static_cast<size_t>(seen.core)];
    const int on_chip = state.device % shape.devices_per_chip;
    if (state.sparse >= 0) {
      const int each = shape.sparse_cores / shape.devices_per_chip;
      snapshot.cores.push_back(Describe(seen, on_chip * each + state.sparse));
      continue;
    }
    for (int half = 0; half < shape.cores_per_device; ++half) {
      snapshot.cores.push_back(Describe(seen, on_chip * shape.cores_per_device + half));
    }
  }
}

}  // namespace rapideye::world

#include "tests/world/world.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/world/agent.h"
#include "tests/world/engine.h"
#include "tests/world/kinds.h"
#include "tests/world/noise.h"
#include "tests/world/witnesses.h"

namespace rapideye::world {
namespace {

constexpr size_t kAskedForInstructions = 32;

// The launches of one step, as agents learnt them in health. A host that blocks in the middle of
// a step has launched some of its programs once more than others: those are no step yet.
std::vector<SequenceEntry> SequenceOf(const Plan& plan, const HostState& host, size_t stage) {
  int whole_steps = std::numeric_limits<int>::max();
  for (const int index : plan.schedule.step[stage]) {
    const Program& program = plan.programs[static_cast<size_t>(index)];
    const auto launched = host.launched.find(program.fingerprint);
    whole_steps = std::min(whole_steps, launched == host.launched.end() ? 0 : launched->second);
  }
  const int ordinal = std::max(0, whole_steps - 3);
  std::vector<SequenceEntry> sequence;
  for (const int index : plan.schedule.step[stage]) {
    const Program& program = plan.programs[static_cast<size_t>(index)];
    sequence.push_back(
        {.module = program.module,
         .fingerprint = program.fingerprint,
         .launch_id = static_cast<int32_t>(static_cast<uint32_t>(program.first_launch) +
                                           static_cast<uint32_t>(ordinal))});
  }
  return sequence;
}

CaptureHeader HeaderOf(const Engine& engine, double alarm) {
  const Plan& plan = engine.plan();
  const Shape& shape = plan.shape;
  CaptureHeader header;
  header.job = absl::StrCat("world-", plan.kind);
  header.job_incarnation = absl::StrCat("run-", plan.seed);
  header.generation = shape.generation;
  header.trigger = plan.trigger;
  header.hang_threshold_ms = static_cast<int64_t>(plan.threshold * 1000);
  header.detected_unix_ms = 1790000000000 + static_cast<int64_t>(alarm * 1000);
  for (int worker = 0; worker < shape.workers(); ++worker) {
    header.expected_workers.push_back({.id = shape.id_of(worker),
                                       .host = HostName(plan, worker),
                                       .node = absl::StrCat("node-", worker)});
  }
  if (engine.last_progress() == 0) {
    header.starting_ms = static_cast<int64_t>(alarm * 1000);
    header.startup_grace_ms = static_cast<int64_t>((engine.started() + plan.threshold) * 1000);
    return header;
  }
  if (!plan.evidence.sequence) {
    return header;
  }
  const int stages = shape.stages ? shape.slices : 1;
  for (int stage = 0; stage < stages; ++stage) {
    Cohort cohort{.name = shape.stages ? absl::StrCat("stage-", stage) : "all"};
    for (int worker = 0; worker < shape.workers(); ++worker) {
      if (!shape.stages || shape.slice_of_worker(worker) == stage) {
        cohort.workers.push_back(shape.id_of(worker));
      }
    }
    const HostState& first = engine.hosts()[static_cast<size_t>(stage * shape.hosts)];
    cohort.sequence = SequenceOf(plan, first, static_cast<size_t>(stage));
    header.cohorts.push_back(std::move(cohort));
  }
  return header;
}

// A pause that the loops' pages announce makes the threshold longer; the threshold of a world is
// that long already.
void AddAnnouncedPause(const Engine& engine, double alarm, CaptureHeader& header) {
  if (!engine.plan().evidence.page || engine.plan().trigger != "no-progress") {
    return;
  }
  for (const HostState& host : engine.hosts()) {
    if (host.runs() && (host.phase == Phase::kCompile || host.phase == Phase::kCheckpoint ||
                        host.phase == Phase::kEval)) {
      header.announced_pause_ms = static_cast<int64_t>((alarm - engine.last_progress()) * 1000);
    }
  }
}

// Asks one runtime for each position about the instructions at its pcs, the rarest positions
// first; the answer covers the whole process.
void AskForInstructions(const Engine& engine, const std::map<WorkerId, int>& workers,
                        Capture& capture) {
  using Position = std::tuple<int, int64_t, int64_t>;  // program, tag, pc
  std::map<Position, std::vector<size_t>> places;
  for (size_t i = 0; i < capture.snapshots.size(); ++i) {
    const Snapshot& snapshot = capture.snapshots[i];
    for (const Core& core : snapshot.cores) {
      const Sequencer& sequencer = core.sequencers.front();
      if (snapshot.runtime.state == RuntimeState::kServing && core.program.has_value() &&
          sequencer.pc.value_or(0) != 0) {
        places[{*core.program, sequencer.tag.value_or(0), *sequencer.pc}].push_back(i);
      }
    }
  }
  std::vector<std::pair<size_t, size_t>> rarest;  // cores, snapshot
  for (const auto& [position, at] : places) {
    rarest.emplace_back(at.size(), at.front());
  }
  std::stable_sort(rarest.begin(), rarest.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::set<size_t> asked;
  for (const auto& [count, snapshot] : rarest) {
    if (asked.size() < kAskedForInstructions) {
      asked.insert(snapshot);
    }
  }
  for (const size_t i : asked) {
    Snapshot& snapshot = capture.snapshots[i];
    const int worker = workers.at(snapshot.worker);
    for (Core& core : snapshot.cores) {
      Sequencer& sequencer = core.sequencers.front();
      if (!core.program.has_value() || sequencer.pc.value_or(0) == 0 || worker < 0) {
        continue;
      }
      const Program& program = engine.plan().programs[static_cast<size_t>(*core.program)];
      const auto& code = core.type == CoreType::kSparseCore ? program.sparse_code : program.code;
      // The instruction at a pc is the last one that begins at or before it.
      const Instruction* at = nullptr;
      for (const Instruction& instruction : code) {
        if (instruction.pc <= *sequencer.pc && (at == nullptr || instruction.pc > at->pc)) {
          at = &instruction;
        }
      }
      if (at != nullptr) {
        sequencer.hlo = at->name;
        if (engine.plan().evidence.hlo_text && !at->text.empty()) {
          sequencer.hlo_text = at->text;
        }
      }
    }
  }
}

// The runtimes declare the hang; then the leader's runtime aborts, and the others follow.
void AbortAll(const Plan& plan, Random& random, Capture& capture) {
  for (Snapshot& snapshot : capture.snapshots) {
    const bool leader = snapshot.worker == WorkerId{};
    const int64_t ago = leader ? 9000 : random.Between(500, 8000);
    snapshot.hang_report = {.pending_graphs = 1,
                            .completed = 12,
                            .step_globally_in_progress = true,
                            .timeout_ms = static_cast<int64_t>(plan.threshold * 1000)};
    snapshot.log_events.push_back(
        {.kind = LogKind::kHangDetected,
         .text = "Megascale hang detected: Timed out waiting for 1 graphs to complete at "
                 "launch_id 0. Already completed: 12. StepGloballyInProgress: true. Timeout: 1m",
         .source = LogSource::kJobLog,
         .count = 1,
         .age_ms = random.Between(9500, 12000)});
    if (snapshot.processes.empty() || snapshot.processes.front().state == ProcessState::kExited) {
      continue;
    }
    Process& process = snapshot.processes.front();
    process = {.pid = process.pid,
               .command = "python3",
               .state = ProcessState::kExited,
               .signal = 6,
               .exited_ms_ago = ago};
    snapshot.runtime.state = RuntimeState::kUnavailable;
    snapshot.stacks.clear();
    snapshot.sockets.clear();
    for (Core& core : snapshot.cores) {
      core.sequencers.front().hlo.reset();
      core.sequencers.front().hlo_text.reset();
    }
  }
}

}  // namespace

World MakeWorld(std::string_view kind, uint64_t seed, int noise, int times) {
  World world{.plan = MakePlan(kind, seed, noise, times)};
  const Plan& plan = world.plan;
  Engine engine(plan);
  std::vector<Agent> agents;
  for (int worker = 0; worker < plan.shape.workers(); ++worker) {
    agents.emplace_back(engine, worker);
  }
  engine.OnPoll([&agents](int worker) { agents[static_cast<size_t>(worker)].Poll(); });
  world.alarm = engine.RunUntilAlarm();
  world.last_progress = engine.last_progress();
  world.fault = engine.fault_time();

  Random random(seed ^ 0x6f627365727665 ^ (static_cast<uint64_t>(noise) << 56));
  const double spread = noise == 0 ? 1 : noise == 1 ? 3 : 8;
  std::vector<std::pair<double, int>> asked;  // agents answer at times of their own
  for (int worker = 0; worker < plan.shape.workers(); ++worker) {
    asked.emplace_back(world.alarm + random.Uniform(0.1, spread), worker);
  }
  std::sort(asked.begin(), asked.end());
  world.capture.header = HeaderOf(engine, world.alarm);
  AddAnnouncedPause(engine, world.alarm, world.capture.header);
  std::map<WorkerId, int> workers;
  for (const auto& [time, worker] : asked) {
    engine.RunUntil(time);
    workers[plan.shape.id_of(worker)] = worker;
    if (!AgentAnswers(engine, worker)) {
      continue;
    }
    agents[static_cast<size_t>(worker)].Poll();
    Snapshot snapshot;
    agents[static_cast<size_t>(worker)].Describe(snapshot);
    DescribeHost(engine, worker, random, snapshot);
    DescribeNetwork(engine, worker, random, snapshot);
    world.capture.snapshots.push_back(std::move(snapshot));
  }
  if (plan.evidence.hlo) {
    AskForInstructions(engine, workers, world.capture);
  }
  if (plan.aborts_on_hang) {
    AbortAll(plan, random, world.capture);
  }
  Spoil(noise, random, world.capture);
  std::vector<bool> happened;
  for (const Fault& fault : world.plan.faults) {
    happened.push_back(engine.TimeOf(fault).has_value());
  }
  AcceptWhatBefell(happened, world.plan.truth);
  return world;
}

std::string Describe(const Plan& plan) {
  const Shape& shape = plan.shape;
  const auto axes = absl::StrJoin(shape.axes, " x ", [](std::string* out, const Axis& axis) {
    absl::StrAppend(out, axis.size, " ", axis.name);
  });
  std::string text =
      absl::StrCat(plan.kind, " seed ", plan.seed, " noise ", plan.noise, "\n", shape.generation,
                   ": ", shape.slices, " slices x ", shape.hosts, " hosts x ", shape.chips,
                   " chips, mesh ", axes, shape.stages ? ", slices are stages" : "", "\n");
  absl::StrAppend(&text, "step ", plan.schedule.step_seconds, " s, threshold ", plan.threshold,
                  " s\n");
  const EvidenceAvailable& seen = plan.evidence;
  absl::StrAppend(&text, "evidence:", seen.hlo ? " hlo" : "", seen.hlo_text ? " text" : "",
                  seen.sequence ? " sequence" : "", seen.page ? " page" : "",
                  seen.sockets ? " sockets" : "", seen.probes ? " probes" : "",
                  seen.stacks ? " stacks" : "", seen.logs ? " logs" : "",
                  seen.old_runtime ? " (old runtime)" : "", "\n");
  for (const Accepted& accepted : plan.truth.accepted) {
    absl::StrAppend(&text, "right: ", accepted.cause, " ", absl::StrJoin(accepted.details, "/"));
    for (const Accused& one : accepted.culprits) {
      absl::StrAppend(&text, " ", one.worker.slice, "/", one.worker.task,
                      one.chip.has_value() ? absl::StrCat(" chip ", *one.chip) : "");
    }
    absl::StrAppend(&text, accepted.some_of ? " (some of them)" : "", "\n");
  }
  return text;
}

}  // namespace rapideye::world

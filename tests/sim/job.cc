#include "tests/sim/job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/kinds/build.h"

namespace rapideye::sim {
namespace {

using scenarios::Arrival;
using scenarios::kNever;
using scenarios::World;

// Simulated time of an incarnation, which is more than any simulation lasts.
constexpr absl::Duration kLongest = absl::Minutes(8);
constexpr int kProbedLaunches = 12;

int64_t Ms(absl::Duration time) { return absl::ToInt64Milliseconds(time); }

scenarios::Plan MakePlan(const Options& options, scenarios::Random& random) {
  while (true) {
    scenarios::Plan plan = scenarios::BuildPlan(options.hang, random);
    if (plan.job.layout.workers() <= options.max_workers) return plan;
  }
}

// The corpus breaks jobs in their second or third step; jobs of a simulation run longer before.
void Postpone(int launches, scenarios::Faults& faults) {
  for (auto& fault : faults.stuck) fault.launch += launches;
  for (auto& fault : faults.stopped) fault.launch += launches;
  for (auto& fault : faults.idle) fault.launch += launches;
  for (auto& fault : faults.diversions) fault.launch += launches;
}

}  // namespace

Job::Job(const Options& options) : options_(options) {
  scenarios::Random random(options.seed ^ 0x6a6f62);
  plan_ = MakePlan(options, random);
  // The threshold must exceed the longest time between two completions in health.
  const World probe(plan_.job, {}, kProbedLaunches);
  int64_t longest = 0;
  for (int device = 0; device < plan_.job.layout.devices(); ++device) {
    int64_t began = 0;
    for (int64_t at = 0; at != kNever;) {
      const int64_t next = probe.NextCompletion(at);
      if (next == kNever) break;
      longest = std::max(longest, next - began);
      began = at = next;
    }
  }
  threshold_ = std::max(options.launch_threshold, 3 * absl::Milliseconds(longest));
  const absl::Duration end = options.restart_at.value_or(absl::InfiniteDuration());
  Add(options.fate, absl::ZeroDuration(), options.fault_after, end);
  if (options.restart_at.has_value()) {
    Add(options.second_hangs ? Fate::kHang : Fate::kHealthy, end + options.down_for,
        options.fault_after, absl::InfiniteDuration());
  }
}

void Job::Add(Fate fate, absl::Duration begins, absl::Duration fault_after, absl::Duration ends) {
  auto incarnation = std::make_unique<Incarnation>();
  incarnation->plan = plan_;
  incarnation->plan.faults = {};
  incarnation->begins = begins;
  incarnation->ends = ends;
  scenarios::Job& job = incarnation->plan.job;
  // The job resumes from a checkpoint, not from the last step of the incarnation before.
  job.first_step = plan_.job.first_step;
  const World probe(job, {}, kProbedLaunches);
  const int64_t per_launch = std::max<int64_t>(1, probe.last_change_ms() / kProbedLaunches);
  const int per_step = job.launches_per_step();
  const int steps = static_cast<int>(Ms(fault_after) / per_launch / per_step);
  Break(fate, steps * per_step, *incarnation);
  const auto launches = static_cast<int>(Ms(kLongest) / per_launch);
  incarnation->world = std::make_unique<World>(job, incarnation->plan.faults, launches);
  incarnation->breaks = !incarnation->world->completed();
  const int64_t stands_ms = incarnation->breaks ? incarnation->world->last_change_ms() : 0;
  const absl::Duration broken = begins + std::max(fault_after, absl::Milliseconds(stands_ms));
  last_break_ = std::max(last_break_, std::min(broken, ends));
  for (const scenarios::ProcessEnd& process : incarnation->plan.ends) {
    if (!incarnation->breaks) break;
    const Arrival at = incarnation->world->At(job.layout.FirstDevice(process.worker), kNever);
    incarnation->killed_worker = process.worker;
    incarnation->killed_at = begins + absl::Milliseconds(at.at_ms + process.after_ms);
  }
  incarnations_.push_back(std::move(incarnation));
}

void Job::Break(Fate fate, int launch, Incarnation& incarnation) {
  scenarios::Random random(options_.seed ^ 0x627265616b);
  const scenarios::Job& job = incarnation.plan.job;
  switch (fate) {
    case Fate::kHealthy:
      return;
    case Fate::kHang:
      incarnation.plan.faults = plan_.faults;
      Postpone(launch, incarnation.plan.faults);
      // A launch out of order needs a run of its program that fits the postponed launch,
      // not the launch of the corpus.
      if (options_.hang == scenarios::Kind::kLaunchOrder) {
        for (auto& diversion : incarnation.plan.faults.diversions) {
          const int slice = job.layout.SliceOfWorker(diversion.worker);
          for (int earlier = 0; earlier < launch; ++earlier) {
            if (job.ProgramAt(slice, earlier) == diversion.program) ++diversion.run;
          }
        }
      }
      return;
    case Fate::kShortStall:
    case Fate::kLongStall:
      break;
  }
  scenarios::StuckDevice stuck{.device = scenarios::PickDevice(job, random), .launch = launch};
  const scenarios::Program& program =
      scenarios::ProgramOf(job, job.layout.SliceOfDevice(stuck.device), launch);
  stuck.op = random.Pick(scenarios::OpsOfKind(program, scenarios::OpKind::kCompute));
  // A stall near the threshold would leave it to the polls whether the alarm is right.
  stuck.for_ms = fate == Fate::kShortStall ? Ms(threshold_) / 3 : Ms(threshold_) * 3 + 20'000;
  incarnation.plan.faults.stuck.push_back(stuck);
}

// Truth ------------------------------------------------------------------------

int Job::IncarnationAt(absl::Duration now) const {
  return incarnations_.size() > 1 && now >= incarnations_[0]->ends ? 1 : 0;
}

Job::Gap Job::GapAt(absl::Duration now) const {
  Gap gap;
  gap.incarnation = IncarnationAt(now);
  const Incarnation& incarnation = *incarnations_[static_cast<size_t>(gap.incarnation)];
  gap.from = gap.incarnation == 0 ? incarnation.begins : incarnations_[0]->ends;
  const int64_t at = Ms(now - incarnation.begins);
  int64_t last = -1;
  for (int device = 0; device < layout().devices(); ++device) {
    last = std::max(last, incarnation.world->LastCompletion(device, at));
  }
  if (last >= 0) gap.from = incarnation.begins + absl::Milliseconds(last);
  const int64_t next = incarnation.world->NextCompletion(at);
  gap.until =
      next == kNever ? absl::InfiniteDuration() : incarnation.begins + absl::Milliseconds(next);
  gap.heals = next != kNever && gap.until < incarnation.ends;
  gap.until = std::min(gap.until, incarnation.ends);
  return gap;
}

std::optional<Job::Standstill> Job::StandstillAt(absl::Duration now) const {
  const int number = IncarnationAt(now);
  const Incarnation& incarnation = *incarnations_[static_cast<size_t>(number)];
  if (incarnation.killed_worker.has_value() && now >= incarnation.killed_at) {
    const absl::Duration end = incarnation.begins + kLongest;
    return Standstill(number, GapAt(std::min(end, incarnation.ends - absl::Milliseconds(1))).from);
  }
  const Gap gap = GapAt(now);
  if (!gap.heals || gap.until - gap.from >= threshold_ || now < incarnation.begins) {
    return Standstill(number, gap.from);
  }
  return std::nullopt;
}

const scenarios::Truth* Job::TruthAt(absl::Duration now) const {
  const Incarnation& incarnation = *incarnations_[static_cast<size_t>(IncarnationAt(now))];
  if (!incarnation.breaks || options_.fate == Fate::kShortStall) return nullptr;
  const absl::Duration stands =
      incarnation.begins + absl::Milliseconds(incarnation.world->last_change_ms());
  return now >= stands ? &incarnation.plan.truth : nullptr;
}

std::optional<absl::Duration> Job::KilledAt(int worker) const {
  for (const auto& incarnation : incarnations_) {
    if (incarnation->killed_worker == worker && incarnation->killed_at < incarnation->ends) {
      return incarnation->killed_at;
    }
  }
  return std::nullopt;
}

// Readings of agents ------------------------------------------------------------

bool Job::Down(const Incarnation& incarnation, int worker, absl::Duration now) const {
  return now < incarnation.begins || now >= incarnation.ends ||
         (incarnation.killed_worker == worker && now >= incarnation.killed_at);
}

agent::RuntimeReading Job::Runtime(int worker, absl::Duration now, bool with_hlo) const {
  const Incarnation& incarnation = *incarnations_[static_cast<size_t>(IncarnationAt(now))];
  agent::RuntimeReading reading;
  if (Down(incarnation, worker, now)) {
    reading.health = {RuntimeState::kUnavailable, "connection refused"};
    return reading;
  }
  reading.health.state = RuntimeState::kServing;
  agent::RuntimeSample& sample = reading.sample.emplace();
  sample.host_name = layout().machines[static_cast<size_t>(worker)].host;
  const int first = layout().FirstDevice(worker);
  for (int i = 0; i < layout().devices_per_worker(); ++i) {
    AddDevice(incarnation, first + i, i, now, with_hlo, sample);
  }
  return reading;
}

void Job::AddDevice(const Incarnation& incarnation, int device, int number, absl::Duration now,
                    bool with_hlo, agent::RuntimeSample& sample) const {
  const scenarios::Job& job = incarnation.plan.job;
  const World& world = *incarnation.world;
  const int worker = layout().WorkerOfDevice(device);
  const int64_t at_ms = Ms(now - incarnation.begins);
  const Arrival at = world.At(device, at_ms);
  const auto fill = [&](int launch, std::string& fingerprint, std::optional<int32_t>& id) {
    const scenarios::Instance instance = world.InstanceAt(worker, launch);
    const scenarios::Program& program = job.programs[static_cast<size_t>(instance.program)];
    fingerprint = program.fingerprint;
    id = LaunchId(program, instance.run);
    return &program;
  };
  for (int i = 0; i < layout().tensor_cores_per_device; ++i) {
    agent::CoreSample core;
    core.id = static_cast<int32_t>(sample.cores.size());
    core.chip = layout().ChipOfDevice(device);
    core.type = CoreType::kTensorCore;
    core.index = layout().devices_per_chip == 1 ? i : number % layout().devices_per_chip;
    agent::SequencerSample sequencer;
    sequencer.type = SequencerType::kTensorCoreSequencer;
    sequencer.pc = 0;
    if (at.op >= 0) {
      const scenarios::Program* program =
          fill(at.launch, core.fingerprint.emplace(), core.launch_id);
      const scenarios::Op& op = program->ops[static_cast<size_t>(at.op)];
      sequencer.pc = op.pc;
      sequencer.tag = op.tag;
      sequencer.run_id = 1000 + at.launch;
      if (with_hlo) {
        sequencer.hlo = op.hlo;
        sequencer.module = program->module;
        sequencer.hlo_text = absl::StrCat("HLO: ", op.hlo, "; HLO module: ", program->module);
      }
      for (int next = at.launch + 1; world.DispatchedAt(worker, next) <= at_ms; ++next) {
        agent::QueuedSample& queued = core.queued.emplace_back();
        fill(next, queued.fingerprint, queued.launch_id);
      }
    }
    core.sequencers.push_back(std::move(sequencer));
    sample.cores.push_back(std::move(core));
  }
}

agent::HostReading Job::Host(int worker, absl::Duration now) const {
  const int number = IncarnationAt(now);
  const Incarnation& incarnation = *incarnations_[static_cast<size_t>(number)];
  agent::ProcessSample process;
  // Between two incarnations the process of the first is still there.
  const bool before = now < incarnation.begins;
  process.id = {4000 + worker * 10 + number - (before ? 1 : 0), 77 + number - (before ? 1 : 0)};
  process.command = "python3";
  process.state = ProcessState::kSleeping;
  if (Down(incarnation, worker, now)) {
    process.state = ProcessState::kExited;
    process.signal = incarnation.killed_worker == worker && !before ? 9 : 15;
  }
  agent::HostReading reading;
  reading.Of<agent::ProcessReading>() = agent::ProcessReading{std::move(process), ""};
  return reading;
}

}  // namespace rapideye::sim

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// The smaller side of a division of some workers; all of them if it is even.
std::vector<int> SmallerSide(const std::vector<int>& all, const std::vector<int>& diverged) {
  std::vector<int> in;
  std::vector<int> out;
  for (const int worker : all) {
    const bool among = std::find(diverged.begin(), diverged.end(), worker) != diverged.end();
    (among ? in : out).push_back(worker);
  }
  if (in.size() == out.size()) return all;
  return in.size() < out.size() ? in : out;
}

std::vector<int> PickWorkers(const Layout& layout, int count, Random& random) {
  std::vector<int> workers(static_cast<size_t>(layout.workers()));
  std::iota(workers.begin(), workers.end(), 0);
  random.Shuffle(workers);
  workers.resize(static_cast<size_t>(std::min(count, layout.workers() - 1)));
  return workers;
}

// The smaller side, counted over the whole job or over those whose cores still
// run something: in a ring others may have come further, and stand idle.
std::vector<Answer> AmongSmallerSide(const Plan& plan, Cause cause, Detail detail,
                                     const std::vector<int>& diverged) {
  const Layout& layout = plan.job.layout;
  const World world(plan.job, plan.faults, plan.launches_to_run());
  int first_launch = plan.launches_to_run();
  for (const Diversion& diversion : plan.faults.diversions) {
    first_launch = std::min(first_launch, diversion.launch);
  }
  std::vector<int> everyone(static_cast<size_t>(layout.workers()));
  std::iota(everyone.begin(), everyone.end(), 0);
  std::vector<int> running;
  std::vector<int> at_fault;
  for (const int worker : everyone) {
    const Arrival at = world.At(layout.FirstDevice(worker), kNever);
    if (at.op < 0) continue;
    running.push_back(worker);
    if (at.launch == first_launch) at_fault.push_back(worker);
  }
  std::vector<Answer> answers;
  for (const std::vector<int>& of : {everyone, running, at_fault}) {
    answers.push_back(WorkerAnswer(plan, cause, detail, SmallerSide(of, diverged)));
    answers.back().among = true;
  }
  return answers;
}

// Some hosts launch another program than the rest, twice, and then mean to go on
// as planned. One host, many, or all of a slice. Nobody is behind: the other
// program was never seen in a healthy step, or stands in nobody's queue.
Plan OtherModule(Kind kind, Random& random) {
  const bool whole_slice = kind == Kind::kModuleSlice;
  Plan plan{.job =
                MakeJob({.layout = {.min_slices = whole_slice ? 2 : 1, .min_tasks = 2}}, random)};
  Job& job = plan.job;
  const Layout& layout = job.layout;
  std::vector<int> diverged;
  if (whole_slice) {
    const int slice = random.Index(static_cast<size_t>(layout.slices));
    for (int task = 0; task < layout.tasks; ++task) diverged.push_back(layout.Worker(slice, task));
  } else {
    const int most = std::max(2, layout.workers() * 3 / 4);
    const int count = kind == Kind::kModuleOneHost ? 1 : static_cast<int>(random.Between(2, most));
    diverged = PickWorkers(layout, count, random);
  }
  constexpr int kUnusedChannels = 500;
  int channel = kUnusedChannels;
  const ProgramRequest request{
      .module =
          random.Pick(std::array<const char*, 3>{"jit_eval_step", "jit_train_step_1", "jit_init"}),
      .collectives = 1,
      .cross_slice = layout.slices > 1 ? CrossSlice::kRing : CrossSlice::kNone,
      .tail = random.Chance(0.5)};
  job.programs.push_back(MakeProgram(request, random, channel));
  const int program = static_cast<int>(job.programs.size()) - 1;
  const int launch = PickLaunch(job, random);
  for (const int worker : diverged) {
    for (int i = 0; i < 2; ++i) {
      plan.faults.diversions.push_back(
          {.worker = worker, .launch = launch + i, .program = program, .run = i + 1});
    }
  }
  plan.told_by = Witness::kEach;
  plan.truth.accepted =
      AmongSmallerSide(plan, Cause::kDifferentModule, Detail::kModuleDivergence, diverged);
  // Slices may rightly be in different programs of a step.
  if (whole_slice) plan.truth.needs = {Need::kStepKnown};
  return plan;
}

// One to three hosts launch two programs of the step in the opposite order: each
// side waits in a program that stands in the other's queue.
Plan SwappedOrder(Random& random, std::vector<int>* swapped) {
  Plan plan{.job = MakeJob({.layout = {.min_tasks = 4}, .min_programs = 2}, random)};
  const Job& job = plan.job;
  std::vector<int> entries;  // with another program behind them in the step
  for (int entry = 0; entry + 1 < job.launches_per_step(); ++entry) {
    if (job.ProgramAt(0, entry) != job.ProgramAt(0, entry + 1)) entries.push_back(entry);
  }
  const int launch = PickLaunch(job, random, random.Pick(entries));
  const int most = std::max(1, std::min(3, (job.layout.workers() - 1) / 2));
  *swapped = PickWorkers(job.layout, static_cast<int>(random.Between(1, most)), random);
  const World healthy(job, {}, plan.launches_to_run());
  for (const int worker : *swapped) {
    for (int i = 0; i < 2; ++i) {
      const Instance other = healthy.InstanceAt(worker, launch + 1 - i);
      plan.faults.diversions.push_back(
          {.worker = worker, .launch = launch + i, .program = other.program, .run = other.run});
    }
  }
  plan.told_by = Witness::kEach;
  plan.truth.accepted =
      AmongSmallerSide(plan, Cause::kDifferentModule, Detail::kLaunchOrder, *swapped);
  return plan;
}

// As before, and a core of a host out of order (at times of another in its slice,
// too) notices and halts.
Plan LaunchGroup(Random& random) {
  std::vector<int> named;
  Plan plan = SwappedOrder(random, &named);
  const Layout& layout = plan.job.layout;
  const int first = named.front();
  if (random.Chance(0.4)) {
    const int slice = layout.SliceOfWorker(first);
    const int other = layout.Worker(slice, random.Index(static_cast<size_t>(layout.tasks)));
    if (std::find(named.begin(), named.end(), other) == named.end()) named.push_back(other);
  }
  for (const int worker : named) {
    plan.log_lines.push_back(
        {.worker = worker,
         .kind = LogKind::kLaunchGroupMismatch,
         .text = "Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, "
                 "perhaps due to an on-device check-failure. scheckne: An unexpected leader shows "
                 "up in the launch group with a different launch id than the current group leader.",
         .after_ms = random.Between(0, 1500),
         .device = layout.FirstDevice(worker)});
    plan.halted_devices.push_back(layout.FirstDevice(worker));
  }
  plan.told_by = Witness::kHost;
  plan.reference_device = layout.FirstDevice(first);
  plan.moment = random.Chance(0.4) ? Moment::kAtOnce : Moment::kAfterThreshold;
  Answer answer = WorkerAnswer(plan, Cause::kDifferentModule, Detail::kLaunchOrder, named);
  answer.among = true;
  // The smaller side is right, too, whoever noticed.
  plan.truth.accepted.insert(plan.truth.accepted.begin(), answer);
  AddFollowOnLines(first, random, plan);
  return plan;
}

}  // namespace

Plan BuildDivergence(Kind kind, Random& random) {
  std::vector<int> swapped;
  Plan plan;
  switch (kind) {
    case Kind::kLaunchOrder:
      plan = SwappedOrder(random, &swapped);
      break;
    case Kind::kLaunchGroup:
      plan = LaunchGroup(random);
      break;
    default:
      plan = OtherModule(kind, random);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

// Some hosts compiled a program otherwise: same module, other fingerprint, its
// own launch ids, pcs a little off. From the start of the job (then nothing was
// learnt), or from a recompilation on. Without module names it is divergence as
// far as anyone can tell.
Plan BuildFingerprint(Kind kind, Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_tasks = 4}}, random)};
  Job& job = plan.job;
  const Layout& layout = job.layout;
  const int workers = layout.workers();
  const int count =
      kind == Kind::kFingerprintFew
          ? static_cast<int>(random.Between(1, std::max(1, workers / 8)))
          : static_cast<int>(random.Between(std::max(2, workers / 4), workers * 3 / 4));
  const std::vector<int> other = PickWorkers(layout, count, random);
  plan.unlearnt = random.Chance(0.4);
  const int entry = random.Index(static_cast<size_t>(job.launches_per_step()));
  const int launch = plan.unlearnt ? entry : PickLaunch(job, random, entry);
  if (plan.unlearnt) job.first_step = 0;
  const int original = job.ProgramAt(0, launch);
  Program variant = job.programs[static_cast<size_t>(original)];
  variant.fingerprint = random.Hex(32);
  variant.launch_base = static_cast<int32_t>(random.Next());
  const int64_t shift = random.Between(1, 60);
  constexpr int kUnusedChannels = 700;
  for (Op& op : variant.ops) {
    op.pc += shift;
    op.send_channel += kUnusedChannels;
    op.receive_channel += kUnusedChannels;
  }
  job.programs.push_back(std::move(variant));
  const int program = static_cast<int>(job.programs.size()) - 1;
  for (const int worker : other) {
    for (int n = launch; n < plan.launches_to_run(); ++n) {
      if (job.ProgramAt(0, n) != original) continue;
      plan.faults.diversions.push_back(
          {.worker = worker, .launch = n, .program = program, .run = job.RunOf(0, n)});
    }
  }
  plan.truth.accepted = AmongSmallerSide(plan, Cause::kFingerprintMismatch, Detail::kNone, other);
  plan.told_by = Witness::kEach;
  plan.truth.needs_for_detail = {Need::kModuleNames};
  plan.truth.otherwise = AmongSmallerSide(plan, Cause::kDifferentModule, Detail::kNone, other);
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

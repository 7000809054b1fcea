// Workers that run something else than the others.
#include <utility>

#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

int AddProgram(Draft& draft, Program program) {
  draft.plan.programs.push_back(std::move(program));
  return static_cast<int>(draft.plan.programs.size()) - 1;
}

int StepProgram(const Draft& draft, int worker) {
  const Shape& shape = draft.plan.shape;
  const size_t stage = shape.stages ? static_cast<size_t>(shape.slice_of_worker(worker)) : 0;
  return draft.plan.schedule.step[stage].front();
}

void Depart(Draft& draft, const std::set<int>& workers, Program program) {
  const int from = StepProgram(draft, *workers.begin());
  const int other = AddProgram(draft, std::move(program));
  for (const int worker : workers) {
    draft.plan.departures[worker] = {.from_step = draft.plan.fault_step,
                                     .instead = {{from, other}}};
  }
}

Program OtherModule(Draft& draft, int worker) {
  const Program& program = draft.plan.programs[static_cast<size_t>(StepProgram(draft, worker))];
  Program other = Recompiled(draft.random, program);
  other.module = draft.random.Chance(0.5) ? "jit_train_step_warmup" : "jit_debug_step";
  return other;
}

void ModuleOfOne(Draft& draft) {
  const int worker = draft.AnyWorker();
  Depart(draft, {worker}, OtherModule(draft, worker));
  draft.Accept("DIFFERENT_MODULE", {"MODULE_DIVERGENCE"}, {draft.Worker(worker)});
}

void FingerprintOfOne(Draft& draft) {
  const int worker = draft.AnyWorker();
  Depart(draft, {worker},
         Recompiled(draft.random,
                    draft.plan.programs[static_cast<size_t>(StepProgram(draft, worker))]));
  draft.Accept("FINGERPRINT_MISMATCH", {}, {draft.Worker(worker)});
}

void FingerprintOfSlice(Draft& draft) {
  const Shape& shape = draft.plan.shape;
  const int slice = draft.random.Below(shape.slices);
  std::set<int> workers;
  for (int task = 0; task < shape.hosts; ++task) {
    workers.insert(slice * shape.hosts + task);
  }
  Depart(
      draft, workers,
      Recompiled(draft.random,
                 draft.plan.programs[static_cast<size_t>(StepProgram(draft, *workers.begin()))]));
  draft.Accept("FINGERPRINT_MISMATCH", {}, draft.Workers(workers), true);
}

void LaunchOrder(Draft& draft) {
  const int worker = draft.AnyWorker();
  draft.plan.departures[worker] = {.from_step = draft.plan.fault_step, .swap = {{0, 1}}};
  draft.Accept("DIFFERENT_MODULE", {"LAUNCH_ORDER"}, {draft.Worker(worker)});
}

void LaunchLeftOut(Draft& draft) {
  const int worker = draft.AnyWorker();
  draft.plan.departures[worker] = {.from_step = draft.plan.fault_step, .leaves_out = 1};
  draft.Accept("DIFFERENT_MODULE", {"LAUNCH_ORDER"}, {draft.Worker(worker)});
  draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, {draft.Worker(worker)});
}

// A conditional whose predicate differs: same program, same launch, one collective less.
void CollectiveLeftOut(Draft& draft) {
  const int worker = draft.AnyWorker();
  Depart(
      draft, {worker},
      WithoutOneCollective(draft.random, draft.plan.shape,
                           draft.plan.programs[static_cast<size_t>(StepProgram(draft, worker))]));
  draft.Accept("DIFFERENT_MODULE", {}, {draft.Worker(worker)});
  draft.Accept("UNKNOWN", {}, {});
}

}  // namespace

std::vector<Kind> ProgramKinds() {
  const ShapeNeeds mates{.hosts = 2, .workers = 3};
  return {
      {"module-of-one", {.shape = mates}, ModuleOfOne},
      {"fingerprint-of-one", {.shape = mates}, FingerprintOfOne},
      {"fingerprint-of-slice", {.shape = {.slices = 3, .no_stages = true}}, FingerprintOfSlice},
      {"launch-order", {.shape = mates, .two_programs = true}, LaunchOrder},
      {"launch-left-out", {.shape = mates, .two_programs = true}, LaunchLeftOut},
      {"collective-left-out", {.shape = mates}, CollectiveLeftOut},
  };
}

}  // namespace rapideye::world

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

// Inputs of several workers dry up at the same step, this many after the one to
// which all have come: none of them may have read ahead of it.
constexpr int64_t kStepsAhead = 15;

std::vector<WorkerId> PickSeveral(const JobPlan& plan, int count) {
  Picks picks(plan.seed);
  std::vector<WorkerId> left = AllWorkers(plan.shape);
  std::vector<WorkerId> picked;
  for (; count > 0 && !left.empty(); --count) {
    const auto at = left.begin() + picks.Below(static_cast<int>(left.size()));
    picked.push_back(WorkerOn(plan.shape, *at));
    left.erase(at);
  }
  std::sort(picked.begin(), picked.end());
  return picked;
}

std::string Names(const JobPlan& plan, const std::vector<WorkerId>& workers) {
  return absl::StrJoin(workers, ", ", [&](std::string* out, WorkerId worker) {
    absl::StrAppend(out, HostOf(plan.shape, worker));
  });
}

// The launcher's fault on one worker, of which it alone is the culprit.
Injection OfOneHost(const JobPlan& plan, absl::string_view fault, absl::string_view what,
                    absl::string_view cause, absl::string_view detail) {
  const WorkerId worker = Picks(plan.seed).Worker(plan.shape);
  return {.orders = {{worker, std::string(fault)}},
          .description = absl::StrCat(HostOf(plan.shape, worker), what),
          .truth = {std::string(cause), std::string(detail), {Host(plan, worker)}, false},
          .silenced = {},
          .agents_lost = {}};
}

// A worker whose process the fault ends or stops.
Injection OfProcess(const JobPlan& plan, absl::string_view fault, absl::string_view what,
                    absl::string_view detail) {
  Injection injection = OfOneHost(plan, fault, what, "UNRECOVERABLE_ERROR", detail);
  injection.silenced = {injection.orders.front().worker};
  return injection;
}

Injection InputDryOf(const JobPlan& plan, const std::vector<WorkerId>& workers) {
  const int64_t after = plan.step + kStepsAhead;
  Injection injection;
  injection.description =
      absl::StrCat("the input of ", Names(plan, workers), " dries up after step ", after);
  // Without the training loop's own word nobody can tell why nothing is queued.
  injection.truth = {"DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", {}, false};
  for (WorkerId worker : workers) {
    injection.orders.push_back({worker, absl::StrCat("input-dry where=launch after=", after)});
    injection.truth.culprits.push_back(Host(plan, worker));
  }
  return injection;
}

}  // namespace

Named Host(const JobPlan& plan, WorkerId worker) {
  return {worker, HostOf(plan.shape, worker), std::nullopt};
}

Injection ProgramNotQueued(const JobPlan& plan) {
  return OfOneHost(plan, "program-not-queued", " queues nothing more", "DATA_INPUT_STALL",
                   "PROGRAM_NOT_QUEUED");
}

Injection InputDry(const JobPlan& plan) { return InputDryOf(plan, PickSeveral(plan, 1)); }

Injection InputDrySeen(const JobPlan& plan) {
  Injection injection = InputDry(plan);
  injection.truth.detail = "INPUT_PIPELINE";
  return injection;
}

Injection InputDrySeveral(const JobPlan& plan) {
  // Fewer than all: somebody must be left to wait for them.
  return InputDryOf(plan, PickSeveral(plan, std::clamp(plan.shape.workers() / 3, 1, 8)));
}

Injection InputDryAll(const JobPlan& plan) {
  Injection injection = InputDryOf(plan, AllWorkers(plan.shape));
  // Every chip has finished its work and nobody waits for anybody: nothing that
  // is seen tells this from a long evaluation on the hosts.
  injection.truth = {"UNKNOWN", "", {}, false};
  return injection;
}

Injection InputDryEntry(const JobPlan& plan) {
  // The program was queued, and its infeed shows what it waits for.
  return OfOneHost(plan, "input-dry where=entry",
                   " has launched, and its chips get no input at the entry of the program",
                   "DATA_INPUT_STALL", "INPUT_PIPELINE");
}

Injection ProcessKill(const JobPlan& plan) {
  return OfProcess(plan, "process-kill", ": the training process is killed", "PROCESS_EXIT");
}

Injection ProcessStop(const JobPlan& plan) {
  return OfProcess(plan, "process-stop", ": the training process is stopped", "PROCESS_STOPPED");
}

Injection ProcessExit(const JobPlan& plan) {
  return OfProcess(plan, "process-exit", ": the training process exits with an error",
                   "PROCESS_EXIT");
}

Injection OutOfMemory(const JobPlan& plan) {
  return OfProcess(plan, "out-of-memory", ": an allocation fails, the training process exits",
                   "OUT_OF_MEMORY");
}

Injection WorkerLost(const JobPlan& plan) {
  Injection injection =
      OfProcess(plan, "process-kill", " is lost: training process and agent vanish", "WORKER_LOST");
  injection.agents_lost = injection.silenced;
  return injection;
}

}  // namespace rapideye::testbed

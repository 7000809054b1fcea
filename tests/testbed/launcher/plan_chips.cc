#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

// A fault that befalls a chip at one operation; the chip is the culprit.
Injection AtPlace(const JobPlan& plan, absl::string_view where, absl::string_view fault,
                  absl::string_view what) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int chip = picks.Below(plan.shape.chips);
  const std::vector<ProgramPtr> step = StepOf(plan, worker.slice);
  const int program = picks.Below(static_cast<int>(step.size()));
  const std::vector<int> places =
      where == "before" ? ComputeBefore(*step[program]) : ComputeAfter(*step[program]);
  const int compute = picks.Below(static_cast<int>(places.size()));
  return {
      .orders = {{worker, absl::StrCat(fault, " chip=", chip, " where=", where,
                                       " program=", program, " compute=", compute)}},
      .description = absl::StrCat("chip ", chip, " of ", HostOf(plan.shape, worker), " ", what,
                                  " in ", step[program]->operations[places[compute]].hlo, " of ",
                                  step[program]->module, ", ", where, " its last collective"),
      .truth = {.cause = "BAD_TPU_CHIP",
                .detail = "TENSOR_CORE",
                .culprits = {{worker, HostOf(plan.shape, worker), chip}},
                .any_of_them = false},
      .silenced = {},
      .agents_lost = {}};
}

// The kernel, which the job cannot reach, says that the chip is to blame.
Injection WithTale(Injection injection, KernelFault fault) {
  const Named& culprit = injection.truth.culprits.front();
  injection.tales = {{culprit.worker, fault, *culprit.chip}};
  injection.truth.removable = true;
  return injection;
}

}  // namespace

Injection BadChip(const JobPlan& plan) {
  return AtPlace(plan, "before", "chip-stop", "stops for ever");
}

Injection BadChipTail(const JobPlan& plan) {
  return AtPlace(plan, "after", "chip-stop", "stops for ever");
}

Injection BadChipAbort(const JobPlan& plan) {
  Injection injection = BadChip(plan);
  injection.silenced = AllWorkers(plan.shape);
  return injection;
}

Injection BadChipKernelLog(const JobPlan& plan) {
  return WithTale(BadChip(plan), KernelFault::kLogLine);
}

Injection BadChipPcie(const JobPlan& plan) {
  return WithTale(BadChip(plan), KernelFault::kFatalError);
}

Injection CoreLoop(const JobPlan& plan) {
  return AtPlace(plan, "before", "core-loop", "loops for ever");
}

Injection CoreHalt(const JobPlan& plan) {
  Injection injection =
      AtPlace(plan, "before", "core-halt why=assertion", "halts on a failed check");
  // A failed check is a fault of software: the culprit is the worker whose log tells, not the chip.
  const WorkerId worker = injection.orders.front().worker;
  injection.truth = {"UNRECOVERABLE_ERROR", "CORE_HALT", {Host(plan, worker)}, false};
  return injection;
}

Injection CoreHaltHardware(const JobPlan& plan) {
  return AtPlace(plan, "before", "core-halt why=hardware", "halts on a hardware error");
}

Injection SparseCore(const JobPlan& plan) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int chip = picks.Below(plan.shape.chips);
  const int core = picks.Below(std::max(1, plan.shape.generation.sparse_cores));
  return {.orders = {{worker, absl::StrCat("sparse-core-stop chip=", chip, " core=", core)}},
          .description = absl::StrCat("SparseCore ", core, " of chip ", chip, " of ",
                                      HostOf(plan.shape, worker), " stops in offloaded work"),
          .truth = {.cause = "BAD_TPU_CHIP",
                    .detail = "SPARSE_CORE",
                    .culprits = {{worker, HostOf(plan.shape, worker), chip}},
                    .any_of_them = false},
          .silenced = {},
          .agents_lost = {}};
}

}  // namespace rapideye::testbed

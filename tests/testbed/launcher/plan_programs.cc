#include "absl/strings/str_cat.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

// Workers that may be named when one worker runs something else than the others:
// the smaller side, or with two workers either.
std::vector<Named> SmallerSide(const JobPlan& plan, WorkerId astray) {
  std::vector<Named> named;
  for (WorkerId worker : AllWorkers(plan.shape)) {
    if (worker == astray || plan.shape.workers() == 2) {
      named.push_back(Host(plan, worker));
    }
  }
  return named;
}

// One worker is given another compilation of a program, by `fault`.
Injection Compiled(const JobPlan& plan, absl::string_view fault, absl::string_view what) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int program = picks.Below(plan.programs);
  return {.orders = {{worker, absl::StrCat(fault, " program=", program)}},
          .description = absl::StrCat(HostOf(plan.shape, worker), " is given ", what,
                                      " of program ", program, " of each step"),
          .truth = {.cause = "FINGERPRINT_MISMATCH",
                    .detail = "",
                    .culprits = SmallerSide(plan, worker),
                    .any_of_them = true},
          .silenced = {},
          .agents_lost = {}};
}

}  // namespace

Injection DifferentModule(const JobPlan& plan) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int program = picks.Below(plan.programs);
  return {.orders = {{worker, absl::StrCat("other-program program=", program)}},
          .description = absl::StrCat(HostOf(plan.shape, worker),
                                      " is given jit_eval_step in place of program ", program,
                                      " of each step"),
          .truth = {.cause = "DIFFERENT_MODULE",
                    .detail = "MODULE_DIVERGENCE",
                    .culprits = SmallerSide(plan, worker),
                    .any_of_them = true},
          .silenced = {},
          .agents_lost = {}};
}

Injection FingerprintMismatch(const JobPlan& plan) {
  return Compiled(plan, "other-compilation", "another libtpu's compilation");
}

Injection FingerprintByFlag(const JobPlan& plan) {
  return Compiled(plan, "other-flags", "a compilation with another flag");
}

Injection FingerprintBySource(const JobPlan& plan) {
  return Compiled(plan, "other-source", "a compilation of another script");
}

Injection LaunchOrder(const JobPlan& plan) {
  const WorkerId worker = Picks(plan.seed).Worker(plan.shape);
  return {.orders = {{worker, "launch-order"}},
          .description =
              absl::StrCat(HostOf(plan.shape, worker), " queues its two programs in swapped order"),
          .truth = {.cause = "DIFFERENT_MODULE",
                    .detail = "LAUNCH_ORDER",
                    .culprits = SmallerSide(plan, worker),
                    .any_of_them = true},
          .silenced = {},
          .agents_lost = {}};
}

std::vector<ProgramPtr> StepOf(const JobPlan& plan, int slice) {
  return MakeStep({.programs = plan.programs,
                   .cross_slice = plan.shape.slices > 1,
                   .offload = plan.offload,
                   .step_time = {},
                   .compilation = Compilation::kUsual,
                   .stage = plan.pipeline ? slice : kNoStage});
}

}  // namespace rapideye::testbed

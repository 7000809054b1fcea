#include "absl/strings/str_cat.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

Injection StopChip(const JobPlan& plan, absl::string_view where) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int chip = picks.Below(plan.shape.chips);
  const std::vector<ProgramPtr> step = StepOf(plan);
  const int program = picks.Below(static_cast<int>(step.size()));
  const std::vector<int> places =
      where == "before" ? ComputeBefore(*step[program]) : ComputeAfter(*step[program]);
  const int compute = picks.Below(static_cast<int>(places.size()));
  return {
      .orders = {{worker, absl::StrCat("chip-stop chip=", chip, " where=", where,
                                       " program=", program, " compute=", compute)}},
      .description = absl::StrCat("chip ", chip, " of ", HostName(worker), " stops for ever in ",
                                  step[program]->operations[places[compute]].hlo, " of ",
                                  step[program]->module, ", ", where, " its last collective"),
      .truth = {.cause = "BAD_TPU_CHIP",
                .detail = "TENSOR_CORE",
                .culprits = {{worker, HostName(worker), chip}},
                .any_of_them = false},
      .silenced = {},
      .agents_lost = {}};
}

}  // namespace

Injection BadChip(const JobPlan& plan) { return StopChip(plan, "before"); }
Injection BadChipTail(const JobPlan& plan) { return StopChip(plan, "after"); }

}  // namespace rapideye::testbed

// Faults of chips and of the links between them.
#include <algorithm>

#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

// In a group of two, without instructions, no evidence says which of the two waits for the other.
void AcceptDoubtOfPairs(Draft& draft, bool hlo) {
  const auto& axes = draft.plan.shape.axes;
  const bool pairs =
      std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.size == 2; });
  if (pairs && !hlo) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

Fault& BreakCore(Draft& draft, Happening what) {
  const int device = draft.AnyDevice();
  Fault& fault = draft.Break(what, draft.plan.shape.worker_of(device));
  fault.device = device;
  draft.Accept("BAD_TPU_CHIP", {"TENSOR_CORE"}, {draft.Chip(device)});
  AcceptDoubtOfPairs(draft, draft.plan.evidence.hlo);
  return fault;
}

void CoreInCompute(Draft& draft) { BreakCore(draft, Happening::kCoreStops).ops = {Op::kCompute}; }

void CoreInKernel(Draft& draft) { BreakCore(draft, Happening::kCoreStops).ops = {Op::kKernel}; }

void CoreAnywhere(Draft& draft) {
  BreakCore(draft, Happening::kCoreStops);
  // If the core happens to stand at a wait, like its mates, nothing tells it from them.
  draft.Accept("UNKNOWN", {}, {});
}

void CoreLoops(Draft& draft) {
  BreakCore(draft, Happening::kCoreLoops).ops = {Op::kCompute, Op::kKernel};
}

void CoreInEvaluation(Draft& draft) {
  Fault& fault = BreakCore(draft, Happening::kCoreStops);
  fault.ops = {Op::kCompute, Op::kKernel};
  const Shape& shape = draft.plan.shape;
  const size_t stage = shape.stages ? static_cast<size_t>(shape.slice_of_worker(fault.worker)) : 0;
  fault.program = draft.plan.schedule.evaluation[stage];
}

// Hosts stop dispatching for the save, so that most cores run out of work.
void CoreBeforeSave(Draft& draft) {
  Fault& fault = BreakCore(draft, Happening::kCoreStops);
  fault.ops = {Op::kCompute, Op::kKernel};
  const Shape& shape = draft.plan.shape;
  const size_t stage = shape.stages ? static_cast<size_t>(shape.slice_of_worker(fault.worker)) : 0;
  fault.program = draft.plan.schedule.save[stage];
}

void CoreThenAbort(Draft& draft) {
  CoreInCompute(draft);
  if (draft.plan.evidence.hlo) {  // nobody is left to ask for instructions
    AcceptDoubtOfPairs(draft, false);
  }
  draft.plan.aborts_on_hang = true;
  draft.plan.trigger = "hang-line";
}

// Independent ones, in two places at once.
void TwoCores(Draft& draft) {
  CoreInCompute(draft);
  const Shape& shape = draft.plan.shape;
  const int first = draft.plan.faults.front().device;
  const int second =
      (first + draft.random.Between(1, shape.devices() / shape.devices_per_chip - 1) *
                   shape.devices_per_chip) %
      shape.devices();
  Fault& fault = draft.Break(Happening::kCoreStops, shape.worker_of(second));
  fault.device = second;
  fault.ops = {Op::kCompute};
  fault.delay = draft.plan.faults.front().delay;
  Accepted& accepted = draft.plan.truth.accepted.front();
  accepted.culprits.insert(draft.Chip(second));
  accepted.some_of = true;
}

void SparseCore(Draft& draft) {
  const int device = draft.AnyDevice();
  Fault& fault = draft.Break(Happening::kSparseCoreStops, draft.plan.shape.worker_of(device));
  fault.device = device;
  fault.other =
      draft.random.Below(draft.plan.shape.sparse_cores / draft.plan.shape.devices_per_chip);
  fault.ops = {Op::kCompute};
  draft.Accept("BAD_TPU_CHIP", {"SPARSE_CORE"}, {draft.Chip(device)});
}

Fault& Halt(Draft& draft, LogKind log, std::string words) {
  const int device = draft.AnyDevice();
  Fault& fault = draft.Break(Happening::kChipHalts, draft.plan.shape.worker_of(device));
  fault.device = device;
  fault.log = log;
  fault.words = std::move(words);
  draft.MayLookSoon("halt");
  draft.plan.evidence.logs = true;  // without words nobody can tell kinds of halts apart
  return fault;
}

void HaltHardware(Draft& draft) {
  const Fault& fault = Halt(draft, LogKind::kHaltHardware,
                            "Core halted unexpectedly: observed errors are: [Hardware]");
  draft.Accept("BAD_TPU_CHIP", {}, {draft.Chip(fault.device)});
}

void HaltWithKernelError(Draft& draft) {
  Fault& fault = Halt(draft, LogKind::kKernelHardware,
                      "accel accel0: AER: Uncorrectable (Fatal) error, device recovery failed");
  fault.by_kernel = true;
  draft.Accept("BAD_TPU_CHIP", {}, {draft.Chip(fault.device)});
  draft.plan.truth.removable = {draft.Id(fault.worker)};
}

void HaltSoftware(Draft& draft) {
  const bool user = draft.random.Chance(0.5);
  const Fault& fault =
      Halt(draft, user ? LogKind::kHaltUser : LogKind::kHaltAssertion,
           user ? "Core halted unexpectedly: observed errors are: [User]"
                : "Core halted unexpectedly: BoundsCheck 12 [deref of &dst] for %fusion.3");
  draft.Accept("UNRECOVERABLE_ERROR", {"CORE_HALT"}, {draft.Worker(fault.worker)});
}

void HaltPower(Draft& draft) {
  const Fault& fault =
      Halt(draft, LogKind::kHaltPower, "Core halted unexpectedly: observed errors are: [Power]");
  draft.Accept("UNRECOVERABLE_ERROR", {"POWER"}, {draft.Worker(fault.worker)});
}

// Two neighbours of a group that the step uses.
Fault& BreakIci(Draft& draft) {
  const Shape& shape = draft.plan.shape;
  const int device = draft.AnyDevice();
  const std::vector<int> group = shape.Group(shape.all_axes(), shape.local_of(device));
  const size_t own = static_cast<size_t>(shape.local_of(device));
  const int base = device - shape.local_of(device);
  Fault& fault = draft.Break(Happening::kIciBreaks, shape.worker_of(device));
  fault.device = device;
  fault.other = base + group[(own + 1) % group.size()];
  draft.Accept("NETWORKING_ISSUE", {"ICI_LINK"},
               draft.Workers({fault.worker, shape.worker_of(fault.other)}), true);
  return fault;
}

void IciWithHalt(Draft& draft) {
  Fault& fault = BreakIci(draft);
  fault.log = LogKind::kHaltNetwork;
  fault.words = "Core halted unexpectedly: observed errors are: [Network]";
  draft.plan.evidence.logs = true;
}

void IciSilent(Draft& draft) {
  BreakIci(draft);
  if (!draft.plan.evidence.ici_health) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

}  // namespace

std::vector<Kind> ChipKinds() {
  return {
      {"core-in-compute", {}, CoreInCompute},
      {"core-in-kernel", {.kernel = true}, CoreInKernel},
      {"core-anywhere", {}, CoreAnywhere},
      {"core-loops", {}, CoreLoops},
      {"core-in-evaluation", {.evaluation = true}, CoreInEvaluation},
      {"core-before-save", {.save = true}, CoreBeforeSave},
      {"core-then-abort", {}, CoreThenAbort},
      {"two-cores", {}, TwoCores},
      {"sparse-core", {.shape = {.sparse_cores = true}, .sparse = true}, SparseCore},
      {"halt-hardware", {}, HaltHardware},
      {"halt-kernel-error", {}, HaltWithKernelError},
      {"halt-software", {}, HaltSoftware},
      {"halt-power", {}, HaltPower},
      {"ici-with-halt", {}, IciWithHalt},
      {"ici-silent", {}, IciSilent},
  };
}

}  // namespace rapideye::world

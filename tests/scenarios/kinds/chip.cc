#include <algorithm>
#include <array>

#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// One core stands in a compute operation of a launch; its slice waits for it at
// the next collective (chip-compute), or has gone on into the next launch or
// module (chip-tail). Decidable by position alone, unless a cross-slice operation
// comes first: then its own siblings stand apart, too, and the name of the
// instruction is needed.
Plan OneChip(bool tail, Random& random) {
  Plan plan{.job = MakeJob({.tail = tail}, random)};
  const ChipFault fault = AddChipFault(tail, random, plan);
  plan.truth.accepted = {ChipAnswer(plan, {fault.device}, Detail::kTensorCore)};
  return plan;
}

// As before, but the pc goes round a loop.
Plan Looping(Random& random) {
  Plan plan = OneChip(random.Chance(0.4), random);
  plan.looping_devices = {plan.reference_device};
  return plan;
}

// Two cores at the same operation: of one slice, where everyone waits for both,
// or of two, where each slice waits for its own (then one of them with the other
// as an alternative is right, too). What the second never reached because of the
// first is not broken for anyone to see.
Plan TwoChips(Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_tasks = 4}}, random)};
  const ChipFault first = AddChipFault(random.Chance(0.3), random, plan);
  const Layout& layout = plan.job.layout;
  const int slice = layout.SliceOfDevice(first.device);
  const bool same_slice = layout.slices == 1 || random.Chance(0.5);
  int second = first.device;
  while (layout.ChipOfDevice(second) == layout.ChipOfDevice(first.device) ||
         (layout.SliceOfDevice(second) == slice) != same_slice) {
    second = PickDevice(plan.job, random);
  }
  plan.faults.stuck.push_back({.device = second, .launch = first.launch, .op = first.op});
  const World world(plan.job, plan.faults, plan.launches_to_run());
  const Arrival at = world.At(second, kNever);
  const bool reached = at.launch == first.launch && at.op == first.op;
  const std::vector<int> both = {first.device, second};
  if (!reached) {
    plan.truth.accepted = {ChipAnswer(plan, {first.device}, Detail::kTensorCore)};
  } else if (same_slice) {
    plan.truth.accepted = {ChipAnswer(plan, both, Detail::kTensorCore)};
  } else {
    Answer either = ChipAnswer(plan, both, Detail::kTensorCore);
    either.among = true;
    plan.truth.accepted = {either};
  }
  return plan;
}

// The SparseCore work of a job's first program, and one SparseCore that stands in it.
ChipFault AddSparseFault(OpKind where, Random& random, Plan& plan) {
  const Job& job = plan.job;
  ChipFault fault{.device = PickDevice(job, random), .launch = PickLaunch(job, random, 0)};
  const Program& program = ProgramOf(job, job.layout.SliceOfDevice(fault.device), fault.launch);
  fault.op = random.Pick(OpsOfKind(program, where));
  const int sparse_core = random.Index(static_cast<size_t>(job.layout.sparse_cores_per_device));
  plan.faults.stuck.push_back(
      {.device = fault.device, .launch = fault.launch, .op = fault.op, .sparse_core = sparse_core});
  plan.reference_device = fault.device;
  NeedNameIfExchangeComesFirst(program, fault.op, plan);
  return fault;
}

// The runtime says that the hardware halted a core, a TensorCore or a SparseCore.
// Mostly it names the core; if not, the position still shows the chip, but nothing
// proves that it is the one, so that any chip of the host is accepted.
Plan HaltText(Random& random) {
  const bool sparse = random.Chance(0.3);
  Plan plan{.job = MakeJob({.layout = {.sparse_cores = sparse}, .sparse_work = sparse}, random)};
  const ChipFault fault = sparse ? AddSparseFault(OpKind::kSparseWork, random, plan)
                                 : AddChipFault(random.Chance(0.3), random, plan);
  plan.truth.needs.clear();  // the text is enough
  plan.told_by = Witness::kHost;
  const int worker = plan.job.layout.WorkerOfDevice(fault.device);
  const bool located = random.Chance(0.8);
  LogLine line{.worker = worker,
               .kind = LogKind::kHaltHardware,
               .text =
                   "INTERNAL: Accelerator device halted prematurely. observed errors are: "
                   "[Hardware]",
               .after_ms = random.Between(0, 900)};
  if (located) {
    line.device = fault.device;
    line.sparse_core = plan.faults.stuck.front().sparse_core;
  }
  plan.log_lines.push_back(std::move(line));
  plan.halted_devices = {fault.device};
  plan.moment = random.Chance(0.5) ? Moment::kAtOnce : Moment::kAfterThreshold;
  AddFollowOnLines(worker, random, plan);
  if (random.Chance(0.4)) {
    plan.ends.push_back({.worker = worker, .exit_code = 1, .after_ms = random.Between(900, 1400)});
  }
  Answer answer =
      ChipAnswer(plan, {fault.device}, sparse ? Detail::kSparseCore : Detail::kTensorCore);
  if (!located) {
    answer.culprits[0].chip.reset();
    answer.details.clear();
  }
  plan.truth.accepted = {answer};
  return plan;
}

// A fatal PCIe error of the chip that stands: counted by the device (AER), told
// by the kernel, or both, to an agent outside the job's reach, so that the machine may
// go at once.
Plan Pcie(Random& random) {
  Plan plan = OneChip(random.Chance(0.3), random);
  plan.truth.needs.clear();
  plan.told_by = Witness::kHost;
  const Layout& layout = plan.job.layout;
  const int worker = layout.WorkerOfDevice(plan.reference_device);
  const int chip = layout.ChipOfDevice(plan.reference_device);
  const int64_t which = random.Between(0, 2);
  if (which != 0) {
    plan.pcie_workers = {worker};
    plan.pcie = {{.chip = chip, .fatal = random.Between(1, 3), .non_fatal = random.Between(0, 2)}};
  }
  if (which != 1) {
    plan.log_lines.push_back(
        {.worker = worker,
         .kind = LogKind::kKernelHardware,
         .text = "pcieport 0000:00:04.0: AER: Uncorrected (Fatal) error received: 0000:00:05.0",
         .source = LogSource::kKernelLog,
         .after_ms = 0,
         .chip = chip});
  }
  plan.truth.accepted[0].details.clear();
  plan.trusted_agents = true;
  plan.truth.removal = true;
  return plan;
}

}  // namespace

Plan BuildChip(Kind kind, Random& random) {
  Plan plan;
  switch (kind) {
    case Kind::kChipTail:
      plan = OneChip(true, random);
      break;
    case Kind::kChipLoop:
      plan = Looping(random);
      break;
    case Kind::kChipTwo:
      plan = TwoChips(random);
      break;
    case Kind::kChipHaltText:
      plan = HaltText(random);
      break;
    case Kind::kChipPcie:
      return Pcie(random);
    default:
      plan = OneChip(false, random);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

// A SparseCore stands in work that its TensorCore waits for, or (with collectives
// carried by the SparseCores) short of the place in a collective where its peers
// wait; then the TensorCores all stand at the same place. Without the name of the
// instruction at the TensorCore nothing says which of the chip's cores it is, only
// that it is this chip.
Plan BuildSparseCore(Kind kind, Random& random) {
  const bool offload = kind == Kind::kSparseCoreOffload;
  Plan plan{.job = MakeJob({.layout = {.sparse_cores = true},
                            .sparse_work = true,
                            .sparse_collectives = offload ? 1 : 0},
                           random)};
  const bool in_collective = offload && random.Chance(0.5);
  const ChipFault fault =
      AddSparseFault(in_collective ? OpKind::kCollective : OpKind::kSparseWork, random, plan);
  plan.truth.accepted = {ChipAnswer(plan, {fault.device}, Detail::kSparseCore)};
  if (!in_collective) {
    plan.truth.needs_for_detail = {Need::kHlo};
    plan.truth.otherwise = {ChipAnswer(plan, {fault.device}, Detail::kTensorCore)};
  }
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

#include <vector>

#include "tests/scenarios/evidence.h"
#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// Stages of a pipeline rightly run different modules; one of them has a fault
// inside, or the link between two of them. Where nobody learnt which workers run
// the same programs the stages cannot be told from diverged hosts.
Plan Pipeline(Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_slices = 2}, .pipeline = true}, random)};
  const Layout& layout = plan.job.layout;
  plan.network_seed = random.Next();
  switch (random.Index(4)) {
    case 0: {
      const ChipFault fault = AddChipFault(false, random, plan);
      plan.truth.accepted = {ChipAnswer(plan, {fault.device}, Detail::kTensorCore)};
      break;
    }
    case 1: {
      const int worker = PickWorker(plan.job, random);
      bool waiting = false;
      AddInputStall(worker, PickLaunch(plan.job, random, 0), random, plan, &waiting);
      plan.reference_device = layout.FirstDevice(worker);
      plan.truth.accepted = {
          WorkerAnswer(plan, Cause::kDataInputStall,
                       waiting ? Detail::kInputPipeline : Detail::kProgramNotQueued, {worker})};
      break;
    }
    case 2: {
      const int worker = PickWorker(plan.job, random);
      const int peer = random.Pick(Neighbours(plan.job, worker));
      AddDeadLink(worker, peer, PickLaunch(plan.job, random), plan);
      plan.truth.needs.push_back(Need::kBrokenPair);
      plan.told_by = Witness::kHost;
      plan.truth.accepted = {
          WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnLink, {worker, peer})};
      break;
    }
    default: {
      const int worker = PickWorker(plan.job, random);
      plan.faults.stopped = {{.worker = worker, .launch = PickLaunch(plan.job, random), .op = 0}};
      plan.reference_device = layout.FirstDevice(worker);
      plan.ends = {{.worker = worker, .exit_code = 1}};
      plan.told_by = Witness::kHost;
      AddFollowOnLines(worker, random, plan);
      plan.truth.accepted = {
          WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessExit, {worker})};
      break;
    }
  }
  if (plan.ends.empty()) plan.truth.needs.push_back(Need::kCohorts);
  return plan;
}

// Five to eight slices in a ring: those far from the fault went on until their
// hosts had nothing queued, and are idle like a host that never launched. The fault
// is a chip, a host without input, a stopped process or a link.
Plan RingFar(Random& random) {
  Plan plan{.job =
                MakeJob({.layout = {.min_slices = 5, .max_slices = 8}, .job_scope_dispatch = true},
                        random)};
  const Layout& layout = plan.job.layout;
  plan.network_seed = random.Next();
  const int dice = random.Index(10);
  if (dice < 5) {
    const ChipFault fault = AddChipFault(random.Chance(0.5), random, plan);
    plan.truth.accepted = {ChipAnswer(plan, {fault.device}, Detail::kTensorCore)};
    return plan;
  }
  const int worker = PickWorker(plan.job, random);
  const int launch = PickLaunch(plan.job, random, dice < 7 ? 0 : -1);
  plan.told_by = Witness::kHost;
  if (dice < 7) {
    bool waiting = false;
    plan.told_by = Witness::kCores;
    AddInputStall(worker, launch, random, plan, &waiting);
    plan.reference_device = layout.FirstDevice(worker);
    plan.truth.accepted = {
        WorkerAnswer(plan, Cause::kDataInputStall,
                     waiting ? Detail::kInputPipeline : Detail::kProgramNotQueued, {worker})};
  } else if (dice < 8) {
    plan.faults.idle = {{.worker = worker, .launch = launch}};
    plan.reference_device = layout.FirstDevice(worker);
    plan.stopped_processes = {worker};
    plan.truth.accepted = {
        WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessStopped, {worker})};
  } else {
    const int peer = random.Pick(Neighbours(plan.job, worker));
    AddDeadLink(worker, peer, launch, plan);
    plan.truth.needs = {Need::kBrokenPair};
    plan.truth.accepted = {
        WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnLink, {worker, peer})};
  }
  return plan;
}

// Two faults that have nothing to do with each other, in the same launch of
// different slices: a chip, and a host that launches nothing for want of input, or
// because its process is stopped or has ended. Either may explain more of the waiting; either
// is right. A fault that the job never reaches, because of the other, leaves no evidence.
Plan TwoFaults(Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_slices = 2, .min_tasks = 4}}, random)};
  const Layout& layout = plan.job.layout;
  const ChipFault chip = AddChipFault(false, random, plan);
  const int slice = layout.SliceOfDevice(chip.device);
  int worker = PickWorker(plan.job, random);
  while (layout.SliceOfWorker(worker) == slice) worker = PickWorker(plan.job, random);
  Answer host;
  if (random.Chance(0.5)) {
    bool waiting = false;
    AddInputStall(worker, chip.launch, random, plan, &waiting);
    host = WorkerAnswer(plan, Cause::kDataInputStall,
                        waiting ? Detail::kInputPipeline : Detail::kProgramNotQueued, {worker});
  } else if (random.Chance(0.5)) {
    plan.faults.idle.push_back({.worker = worker, .launch = chip.launch});
    plan.ends = {{.worker = worker, .exit_code = 1}};
    host = WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessExit, {worker});
  } else {
    plan.faults.idle.push_back({.worker = worker, .launch = chip.launch});
    plan.stopped_processes = {worker};
    host = WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessStopped, {worker});
  }
  plan.told_by = Witness::kCores;  // of either
  const World world(plan.job, plan.faults, plan.launches_to_run());
  const Arrival at_chip = world.At(chip.device, kNever);
  const Arrival at_host = world.At(layout.FirstDevice(worker), kNever);
  const bool chip_reached = at_chip.launch == chip.launch && at_chip.op == chip.op;
  const bool host_reached = at_host.launch == chip.launch - 1 && at_host.op < 0;
  if (!chip_reached) plan.reference_device = layout.FirstDevice(worker);
  if (chip_reached) {
    plan.truth.accepted.push_back(ChipAnswer(plan, {chip.device}, Detail::kTensorCore));
  } else {
    plan.truth.needs.clear();
  }
  // The host's process tells of its own fault, whether or not its chips ran dry.
  if (host_reached || !chip_reached || !plan.stopped_processes.empty() || !plan.ends.empty()) {
    plan.truth.accepted.push_back(host);
  }
  return plan;
}

}  // namespace

Plan BuildCompound(Kind kind, Random& random) {
  Plan plan;
  switch (kind) {
    case Kind::kPipeline:
      plan = Pipeline(random);
      break;
    case Kind::kRingFar:
      plan = RingFar(random);
      break;
    default:
      plan = TwoFaults(random);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

#include <array>

#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// A worker that goes no further than an operation of a launch.
struct Victim {
  int worker = 0;
  int launch = 0;
};

Victim StopWorker(bool silent, Random& random, Plan& plan) {
  const Layout& layout = plan.job.layout;
  const Victim victim{.worker = PickWorker(plan.job, random),
                      .launch = PickLaunch(plan.job, random)};
  const Program& program = ProgramOf(plan.job, layout.SliceOfWorker(victim.worker), victim.launch);
  // Not past the last collective: its slice must come to need it.
  const int op = random.Index(static_cast<size_t>(LastCollective(program)) + 1);
  plan.faults.stopped.push_back(
      {.worker = victim.worker, .launch = victim.launch, .op = op, .silent = silent});
  plan.reference_device = layout.FirstDevice(victim.worker);
  return victim;
}

void KeepSampleOrNot(int worker, Random& random, Plan& plan) {
  if (random.Chance(0.5)) plan.no_samples.push_back(worker);
}

// A process ends by itself, or is killed. Its chips take no further part.
void EndProcess(Kind kind, Random& random, Plan& plan) {
  const Victim victim = StopWorker(random.Chance(0.5), random, plan);
  ProcessEnd end{.worker = victim.worker};
  if (kind == Kind::kProcessKilled) {
    end.signal = random.Pick(std::array<int32_t, 3>{9, 9, 11});
  } else {
    // 0: it ran out of data, or thought that it was done.
    end.exit_code = static_cast<int32_t>(random.Pick(std::array<int, 4>{0, 1, 1, 139}));
  }
  plan.ends.push_back(end);
  KeepSampleOrNot(victim.worker, random, plan);
  AddFollowOnLines(victim.worker, random, plan);
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessExit, {victim.worker})};
}

// A stopped process launches nothing and its runtime does not answer; its chips
// finish what they had.
void StopProcess(Random& random, Plan& plan) {
  const int worker = PickWorker(plan.job, random);
  plan.faults.idle = {{.worker = worker, .launch = PickLaunch(plan.job, random)}};
  plan.reference_device = plan.job.layout.FirstDevice(worker);
  plan.stopped_processes = {worker};
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kProcessStopped, {worker})};
}

// Out of memory, mostly followed by the end of the process; the rest swallow the
// error and launch nothing more.
void OutOfMemory(Random& random, Plan& plan) {
  const Victim victim = StopWorker(false, random, plan);
  plan.log_lines.push_back(
      {.worker = victim.worker,
       .kind = LogKind::kOutOfMemory,
       .text = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
       .after_ms = 0});
  if (random.Chance(0.8)) {
    plan.ends.push_back(
        {.worker = victim.worker, .exit_code = 1, .after_ms = random.Between(200, 1400)});
    KeepSampleOrNot(victim.worker, random, plan);
  }
  AddFollowOnLines(victim.worker, random, plan);
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kOutOfMemory, {victim.worker})};
}

// A host is gone: no snapshot, no answer on any network. If another snapshot is
// missing as well (an agent crashed) and nobody probed, either could be it.
void LoseWorker(Random& random, Plan& plan) {
  const Victim victim = StopWorker(true, random, plan);
  plan.lost_workers = {victim.worker};
  AddFollowOnLines(victim.worker, random, plan);
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kWorkerLost, {victim.worker})};
  plan.truth.needs = {Need::kLostStandsOut};
}

void FailCopy(Random& random, Plan& plan) {
  const bool to_device = random.Chance(0.5);
  const Victim victim = StopWorker(false, random, plan);
  plan.log_lines.push_back(
      {.worker = victim.worker,
       .kind = LogKind::kCopyFailed,
       .text = to_device ? "INTERNAL: host-to-device copy of 4194304 bytes failed: DMA error"
                         : "INTERNAL: device-to-host copy of 4194304 bytes failed: DMA error",
       .after_ms = 0});
  if (random.Chance(0.4)) {
    plan.ends.push_back(
        {.worker = victim.worker, .exit_code = 1, .after_ms = random.Between(200, 1400)});
  }
  AddFollowOnLines(victim.worker, random, plan);
  plan.truth.accepted = {WorkerAnswer(plan, Cause::kUnrecoverableError,
                                      to_device ? Detail::kHostToDevice : Detail::kDeviceToHost,
                                      {victim.worker})};
}

// The platform takes the machine back: a notice, then the process is told to end.
void Preempt(Random& random, Plan& plan) {
  const Victim victim = StopWorker(false, random, plan);
  plan.log_lines.push_back({.worker = victim.worker,
                            .kind = LogKind::kPreempted,
                            .text = "maintenance event: TERMINATE_ON_HOST_MAINTENANCE",
                            .after_ms = 0});
  ProcessEnd end{.worker = victim.worker, .after_ms = random.Between(200, 1400)};
  if (random.Chance(0.5)) {
    end.signal = 15;
  } else {
    end.exit_code = 143;
  }
  plan.ends.push_back(end);
  KeepSampleOrNot(victim.worker, random, plan);
  AddFollowOnLines(victim.worker, random, plan);
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kPreempted, {victim.worker})};
}

}  // namespace

Plan BuildLoss(Kind kind, Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  plan.told_by = Witness::kHost;
  plan.moment = random.Chance(0.35) ? Moment::kAtOnce : Moment::kAfterThreshold;
  switch (kind) {
    case Kind::kProcessStopped:
      plan.moment = Moment::kAfterThreshold;
      StopProcess(random, plan);
      break;
    case Kind::kOutOfMemory:
      OutOfMemory(random, plan);
      break;
    case Kind::kWorkerLost:
      plan.moment = Moment::kAfterThreshold;
      LoseWorker(random, plan);
      break;
    case Kind::kCopyFailed:
      FailCopy(random, plan);
      break;
    case Kind::kPreempted:
      Preempt(random, plan);
      break;
    default:
      EndProcess(kind, random, plan);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

constexpr const char* kAssertionText =
    "Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an "
    "on-device check-failure. BoundsCheck 92 [deref of %s931]";
constexpr const char* kUserText =
    "INTERNAL: Accelerator device halted prematurely. observed errors are: [User]";
constexpr const char* kPowerText =
    "INTERNAL: Accelerator device halted prematurely. observed errors are: [Power]";

LogLine HaltLine(Kind kind) {
  switch (kind) {
    case Kind::kHaltUser:
      return {.kind = LogKind::kHaltUser, .text = kUserText};
    case Kind::kPower:
      return {.kind = LogKind::kHaltPower, .text = kPowerText};
    default:
      return {.kind = LogKind::kHaltAssertion, .text = kAssertionText};
  }
}

}  // namespace

// A core halted itself: an assertion of the compiled program, an error of its
// user, or a loss of power. Now and then several hosts at once, and then any of
// them is right: errors that close together have no order. The others follow.
Plan BuildHalt(Kind kind, Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  const Layout& layout = plan.job.layout;
  const ChipFault fault = AddChipFault(random.Chance(0.3), random, plan);
  plan.truth.needs.clear();
  plan.told_by = Witness::kHost;
  const int worker = layout.WorkerOfDevice(fault.device);
  std::vector<int> devices = {fault.device};
  if (kind != Kind::kPower && random.Chance(0.25)) {
    const int slice = layout.SliceOfWorker(worker);
    for (int task = 0; task < layout.tasks && devices.size() < 4; ++task) {
      const int other = layout.Worker(slice, task);
      if (other == worker) continue;
      devices.push_back(layout.FirstDevice(other));
      plan.faults.stuck.push_back(
          {.device = devices.back(), .launch = fault.launch, .op = fault.op});
    }
  }
  std::vector<int> workers;
  for (const int device : devices) {
    LogLine line = HaltLine(kind);
    line.worker = layout.WorkerOfDevice(device);
    line.device = device;
    line.after_ms = random.Between(0, 1500);
    plan.log_lines.push_back(std::move(line));
    plan.halted_devices.push_back(device);
    workers.push_back(layout.WorkerOfDevice(device));
  }
  AddFollowOnLines(worker, random, plan);
  plan.moment = random.Chance(0.5) ? Moment::kAtOnce : Moment::kAfterThreshold;
  if (random.Chance(0.4)) {
    plan.ends.push_back({.worker = worker, .exit_code = 1, .after_ms = random.Between(900, 1400)});
  }
  const Detail detail = kind == Kind::kPower ? Detail::kPower : Detail::kCoreHalt;
  Answer answer = WorkerAnswer(plan, Cause::kUnrecoverableError, detail, workers);
  answer.among = workers.size() > 1;
  plan.truth.accepted = {answer};
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

#include "tests/scenarios/kinds/build.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace rapideye::scenarios {
namespace {

// Whether, from an operation on, an exchange comes before the next collective.
bool ExchangeComesFirst(const Program& program, int op) {
  for (size_t i = static_cast<size_t>(op) + 1; i < program.ops.size(); ++i) {
    if (program.ops[i].kind == OpKind::kCollective) return false;
    if (program.ops[i].kind == OpKind::kExchange) return true;
  }
  return false;
}

}  // namespace

Plan BuildPlan(Kind kind, Random& random) {
  switch (kind) {
    case Kind::kChipCompute:
    case Kind::kChipTail:
    case Kind::kChipLoop:
    case Kind::kChipTwo:
    case Kind::kChipHaltText:
    case Kind::kChipPcie:
      return BuildChip(kind, random);
    case Kind::kSparseCore:
    case Kind::kSparseCoreOffload:
      return BuildSparseCore(kind, random);
    case Kind::kDcnLink:
    case Kind::kDcnHost:
    case Kind::kDcnNic:
    case Kind::kIciLink:
      return BuildNetwork(kind, random);
    case Kind::kModuleOneHost:
    case Kind::kModuleManyHosts:
    case Kind::kModuleSlice:
    case Kind::kLaunchOrder:
    case Kind::kLaunchGroup:
      return BuildDivergence(kind, random);
    case Kind::kFingerprintFew:
    case Kind::kFingerprintMany:
      return BuildFingerprint(kind, random);
    case Kind::kInputOneHost:
    case Kind::kInputSeveralHosts:
    case Kind::kInputAllHosts:
    case Kind::kInputAtEntry:
    case Kind::kProgramNotQueued:
      return BuildInput(kind, random);
    case Kind::kHaltAssertion:
    case Kind::kHaltUser:
    case Kind::kPower:
      return BuildHalt(kind, random);
    case Kind::kProcessExit:
    case Kind::kProcessKilled:
    case Kind::kProcessStopped:
    case Kind::kOutOfMemory:
    case Kind::kWorkerLost:
    case Kind::kCopyFailed:
    case Kind::kPreempted:
      return BuildLoss(kind, random);
    case Kind::kPipeline:
    case Kind::kRingFar:
    case Kind::kTwoFaults:
      return BuildCompound(kind, random);
    case Kind::kUnknownCause:
      return BuildUnknown(kind, random);
    case Kind::kHealthy:
    case Kind::kSlow:
    case Kind::kCompiling:
    case Kind::kCheckpointing:
      return BuildHealthy(kind, random);
  }
  return {};
}

int PickLaunch(const Job& job, Random& random, int entry) {
  const int per_step = job.launches_per_step();
  if (entry < 0) entry = random.Index(static_cast<size_t>(per_step));
  return per_step * static_cast<int>(random.Between(1, 2)) + entry;
}

int PickWorker(const Job& job, Random& random) {
  return random.Index(static_cast<size_t>(job.layout.workers()));
}

int PickDevice(const Job& job, Random& random) {
  return random.Index(static_cast<size_t>(job.layout.devices()));
}

const Program& ProgramOf(const Job& job, int slice, int launch) {
  return job.programs[static_cast<size_t>(job.ProgramAt(slice, launch))];
}

int PickCompute(const Program& program, bool tail, Random& random) {
  std::vector<int> fitting;
  for (const int op : OpsOfKind(program, OpKind::kCompute)) {
    if ((op > LastCollective(program)) == tail) fitting.push_back(op);
  }
  return fitting.empty() ? -1 : random.Pick(fitting);
}

void NeedNameIfExchangeComesFirst(const Program& program, int op, Plan& plan) {
  if (!plan.job.exchange_per_worker && ExchangeComesFirst(program, op)) {
    plan.truth.needs.push_back(Need::kHlo);
  }
}

ChipFault AddChipFault(bool tail, Random& random, Plan& plan) {
  const Job& job = plan.job;
  ChipFault fault{.device = PickDevice(job, random), .launch = PickLaunch(job, random)};
  const Program& program = ProgramOf(job, job.layout.SliceOfDevice(fault.device), fault.launch);
  fault.op = PickCompute(program, tail, random);
  if (fault.op < 0) fault.op = PickCompute(program, !tail, random);
  plan.faults.stuck.push_back({.device = fault.device, .launch = fault.launch, .op = fault.op});
  plan.reference_device = fault.device;
  NeedNameIfExchangeComesFirst(program, fault.op, plan);
  return fault;
}

Answer ChipAnswer(const Plan& plan, const std::vector<int>& devices, Detail detail) {
  const Layout& layout = plan.job.layout;
  Answer answer{.cause = Cause::kBadTpuChip, .details = {detail}};
  for (const int device : devices) {
    answer.culprits.push_back(
        {.worker = layout.Id(layout.WorkerOfDevice(device)), .chip = layout.ChipOfDevice(device)});
  }
  return answer;
}

Answer WorkerAnswer(const Plan& plan, Cause cause, Detail detail, const std::vector<int>& workers) {
  Answer answer{.cause = cause};
  if (detail != Detail::kNone) answer.details = {detail};
  for (const int worker : workers)
    answer.culprits.push_back({.worker = plan.job.layout.Id(worker)});
  return answer;
}

void AddFollowOnLines(int culprit, Random& random, Plan& plan) {
  const Layout& layout = plan.job.layout;
  for (int worker = 0; worker < layout.workers(); ++worker) {
    if (worker == culprit || !random.Chance(0.25)) continue;
    const int named = random.Chance(0.7) ? culprit : PickWorker(plan.job, random);
    const std::string& host = layout.machines[static_cast<size_t>(named)].host;
    LogLine line{.worker = worker, .after_ms = random.Between(2000, 25000)};
    switch (random.Index(3)) {
      case 0:
        line.kind = LogKind::kFollowOn;
        line.text = "FAILED_PRECONDITION: The program continuator has halted unexpectedly";
        break;
      case 1:
        line.kind = LogKind::kMissedHealthChecks;
        line.text = absl::StrCat("The task with address ", host, ":8471 missed 3 health checks.");
        line.peer_host = host;
        line.after_ms += 10000;
        break;
      default:
        line.kind = LogKind::kCoordinationTimeout;
        line.text = "DEADLINE_EXCEEDED: Barrier timed out";
        line.after_ms += 20000;
        break;
    }
    plan.log_lines.push_back(std::move(line));
  }
}

void AddInputStall(int worker, int launch, Random& random, Plan& plan, bool* seen_waiting) {
  plan.faults.idle.push_back({.worker = worker, .launch = launch});
  const int64_t dice = random.Between(0, 99);
  PhaseReport report{.worker = worker};  // no page
  *seen_waiting = dice < 90;
  if (dice < 65) {
    report.phase = Phase::kInput;
    report.waits_for_input = true;
  } else if (dice < 90) {
    plan.stacks.push_back({.worker = worker,
                           .frames = {"queue.py:180 get",
                                      "grain/_src/python/data_loader.py:421 "
                                      "__next__",
                                      "train.py:212 next_batch", "train.py:340 main"}});
  }
  plan.phases.push_back(report);
  // The host's own word, that it waits for input, makes evidence of its cores unnecessary.
  if (*seen_waiting) plan.told_by = Witness::kHost;
}

void AddDeadLink(int worker, int peer, int launch, Plan& plan) {
  plan.faults.links.push_back({.worker = worker, .peer = peer, .launch = launch});
}

}  // namespace rapideye::scenarios

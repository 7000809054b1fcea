#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// Every slice stands in the same collective, and nothing tells one from another.
void EverySliceInCollective(Random& random, Plan& plan) {
  const Layout& layout = plan.job.layout;
  const int launch = PickLaunch(plan.job, random);
  for (int slice = 0; slice < layout.slices; ++slice) {
    const Program& program = ProgramOf(plan.job, slice, launch);
    plan.faults.stuck.push_back({.device = slice * layout.devices_per_slice(),
                                 .launch = launch,
                                 .op = OpsOfKind(program, OpKind::kCollective).front()});
  }
}

// One slice stands in a collective, whole; the others wait for it or ran out of
// work. Which of its members is to blame nothing tells.
void OneSliceInCollective(Random& random, Plan& plan) {
  const int launch = PickLaunch(plan.job, random);
  const int device = PickDevice(plan.job, random);
  const Program& program = ProgramOf(plan.job, plan.job.layout.SliceOfDevice(device), launch);
  plan.faults.stuck.push_back({.device = device,
                               .launch = launch,
                               .op = random.Pick(OpsOfKind(program, OpKind::kCollective))});
}

// A chip stands, but the agent of its host does not report, although the host
// answers. Missing and awaited by everyone may also be called a lost worker.
void CulpritUnseen(Random& random, Plan& plan) {
  const ChipFault fault = AddChipFault(false, random, plan);
  const int worker = plan.job.layout.WorkerOfDevice(fault.device);
  plan.silent_agents = {worker};
  plan.truth.accepted.push_back(
      WorkerAnswer(plan, Cause::kUnrecoverableError, Detail::kWorkerLost, {worker}));
  plan.truth.needs = {Need::kUndecidable};
}

// Every core of every slice waits for data from another one, which has sent it:
// sockets are empty, probes pass.
void DeliveredButAwaited(Random& random, Plan& plan) {
  const Job& job = plan.job;
  int launch = 0;
  std::vector<int> exchanges;
  while (exchanges.empty()) {
    launch = PickLaunch(job, random);
    exchanges = OpsOfKind(ProgramOf(job, 0, launch), OpKind::kExchange);
  }
  for (int device = 0; device < job.layout.devices(); ++device) {
    plan.faults.stuck.push_back({.device = device, .launch = launch, .op = exchanges.front()});
  }
}

// Everyone stands at one place, which some runtimes call a collective and others a
// computation.
void NamedDifferently(Random& random, Plan& plan) {
  EverySliceInCollective(random, plan);
  plan.contradictory_hlo = true;
}

// Everyone stands in one collective, and two hosts have each reported a session
// error of the other's chips at the same time. One of them may be right.
void AccuseEachOther(Random& random, Plan& plan) {
  const Layout& layout = plan.job.layout;
  EverySliceInCollective(random, plan);
  const int one = PickWorker(plan.job, random);
  const int other =
      (one + 1 + random.Index(static_cast<size_t>(layout.workers() - 1))) % layout.workers();
  for (const auto& [worker, accused] : {std::pair(one, other), std::pair(other, one)}) {
    const std::string& host = layout.machines[static_cast<size_t>(accused)].host;
    plan.log_lines.push_back(
        {.worker = worker,
         .kind = LogKind::kChipDriverError,
         .text = absl::StrCat("Session master detected TPU session error from worker ", host,
                              ":8471. The reporting TPU chip locations are: (0,0,0)"),
         .after_ms = random.Between(0, 900),
         .peer_host = host});
  }
  Answer either = WorkerAnswer(plan, Cause::kBadTpuChip, Detail::kNone, {one, other});
  either.among = true;
  plan.truth.accepted.push_back(std::move(either));
}

}  // namespace

// Hangs whose cause no evidence shows, or whose evidence contradicts itself;
// `unknown` is right, and next to it only what is said above.
Plan BuildUnknown(Kind, Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_slices = 2}}, random)};
  plan.truth.accepted = {{.cause = Cause::kUnknown}};
  // Every worker must keep its evidence: a gap would single a worker out.
  for (int worker = 0; worker < plan.job.layout.workers(); ++worker) {
    plan.witnesses.push_back(worker);
  }
  switch (random.Index(6)) {
    case 0:
      OneSliceInCollective(random, plan);
      break;
    case 1:
      CulpritUnseen(random, plan);
      break;
    case 2:
      DeliveredButAwaited(random, plan);
      break;
    case 3:
      NamedDifferently(random, plan);
      break;
    case 4:
      AccuseEachOther(random, plan);
      break;
    default:
      EverySliceInCollective(random, plan);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios

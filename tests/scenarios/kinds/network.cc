#include "tests/scenarios/evidence.h"
#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

Plan CrossSliceJob(Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_slices = 2}}, random)};
  plan.network_seed = random.Next();
  plan.told_by = Witness::kHost;
  plan.truth.removal = false;
  return plan;
}

// The link between two workers is dead. Both stand at the transfer that the others
// have got past; sockets or probes name the pair. Without them the two are
// visible, but no evidence shows that the network is the cause.
Plan OneLink(Random& random) {
  Plan plan = CrossSliceJob(random);
  const int worker = PickWorker(plan.job, random);
  const int peer = random.Pick(Neighbours(plan.job, worker));
  AddDeadLink(worker, peer, PickLaunch(plan.job, random), plan);
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnLink, {worker, peer})};
  plan.truth.needs = {Need::kBrokenPair};
  return plan;
}

// Where probes are lacking, two slices show one broken pair only, whichever end
// it is; with three, both broken links have the host in common.
void AcceptPairs(int worker, Plan& plan) {
  std::vector<int> around = Neighbours(plan.job, worker);
  around.push_back(worker);
  Answer pair = WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnLink, around);
  pair.among = true;
  plan.truth.otherwise.push_back(pair);
}

// All cross-slice links of a host are dead; its agent still reports, over the
// management network.
Plan WholeHost(Random& random) {
  Plan plan = CrossSliceJob(random);
  const int worker = PickWorker(plan.job, random);
  const int launch = PickLaunch(plan.job, random);
  for (const int peer : Neighbours(plan.job, worker)) AddDeadLink(worker, peer, launch, plan);
  plan.dead_hosts = {worker};
  plan.truth.accepted = {WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnHost, {worker})};
  plan.truth.needs = {Need::kBrokenPair};
  plan.truth.needs_for_detail = {Need::kTwoBrokenPairs};
  plan.truth.removal.reset();
  AcceptPairs(worker, plan);
  return plan;
}

// One NIC of a host is dead, with or without its carrier. Links over its other
// NIC work. Probes (or the carrier) tell a NIC from a link.
Plan OneNic(Random& random) {
  Plan plan = CrossSliceJob(random);
  const int worker = PickWorker(plan.job, random);
  const int launch = PickLaunch(plan.job, random);
  const std::vector<int> neighbours = Neighbours(plan.job, worker);
  const std::string nic = NicOfPair(plan.network_seed, worker, random.Pick(neighbours));
  for (const int peer : neighbours) {
    if (NicOfPair(plan.network_seed, worker, peer) == nic) {
      AddDeadLink(worker, peer, launch, plan);
    }
  }
  plan.nic_faults = {{.worker = worker, .nic = nic, .carrier_lost = random.Chance(0.4)}};
  if (random.Chance(0.3)) {
    plan.log_lines.push_back({.worker = worker,
                              .kind = LogKind::kNicFault,
                              .text = nic + ": ionic_comp_msn cqe with error",
                              .source = LogSource::kKernelLog,
                              .after_ms = 0});
  }
  Answer answer = WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kDcnHost, {worker});
  plan.truth.otherwise = {answer};
  answer.culprits[0].nic = nic;
  plan.truth.accepted = {answer};
  plan.truth.needs = {Need::kBrokenPair};
  plan.truth.needs_for_detail = {Need::kNicStandsOut};
  plan.truth.removal.reset();
  AcceptPairs(worker, plan);
  return plan;
}

// A link inside a slice is dead: its collective never ends, and every core of the
// slice stands in it. Only a halt text or the health of the links tells; without
// either, no worker stands out.
Plan IciLinkDown(Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  const Layout& layout = plan.job.layout;
  const int device = PickDevice(plan.job, random);
  const int launch = PickLaunch(plan.job, random);
  const Program& program = ProgramOf(plan.job, layout.SliceOfDevice(device), launch);
  const int op = random.Pick(OpsOfKind(program, OpKind::kCollective));
  plan.faults.stuck.push_back({.device = device, .launch = launch, .op = op});
  plan.reference_device = device;
  const int worker = layout.WorkerOfDevice(device);
  const int other_end =
      layout.Worker(layout.SliceOfWorker(worker), (layout.TaskOfWorker(worker) + 1) % layout.tasks);
  plan.told_by = Witness::kHost;
  plan.ici_workers = {worker};
  plan.ici_faults = {{.chip = layout.ChipOfDevice(device), .link = "y+", .health = 10}};
  Answer answer =
      WorkerAnswer(plan, Cause::kNetworkingIssue, Detail::kIciLink, {worker, other_end});
  answer.among = true;
  plan.truth.accepted = {answer};
  plan.truth.removal = false;
  if (random.Chance(0.25)) {
    plan.truth.needs = {Need::kIciLinks};
    return plan;
  }
  plan.log_lines.push_back({.worker = worker,
                            .kind = LogKind::kHaltNetwork,
                            .text = "INTERNAL: Accelerator device halted prematurely. observed "
                                    "errors are: [Network]",
                            .after_ms = random.Between(0, 500),
                            .device = device});
  if (random.Chance(0.4)) {
    plan.log_lines.push_back(plan.log_lines.back());
    plan.log_lines.back().worker = other_end;
    plan.log_lines.back().device = layout.FirstDevice(other_end);
  }
  plan.moment = random.Chance(0.5) ? Moment::kAtOnce : Moment::kAfterThreshold;
  AddFollowOnLines(worker, random, plan);
  return plan;
}

}  // namespace

Plan BuildNetwork(Kind kind, Random& random) {
  switch (kind) {
    case Kind::kDcnHost:
      return WholeHost(random);
    case Kind::kDcnNic:
      return OneNic(random);
    case Kind::kIciLink:
      return IciLinkDown(random);
    default:
      return OneLink(random);
  }
}

}  // namespace rapideye::scenarios

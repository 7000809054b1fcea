// Faults of the network between slices.
#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

void AcceptDoubtWithoutWitnesses(Draft& draft) {
  if (!draft.plan.evidence.sockets && !draft.plan.evidence.probes) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

// A worker of another slice with which this one exchanges.
int PeerOf(Draft& draft, int worker) {
  const Shape& shape = draft.plan.shape;
  const int slice = shape.slice_of_worker(worker);
  int other = slice;
  while (other == slice || (shape.stages && other != slice + 1 && other != slice - 1)) {
    other = draft.random.Below(shape.slices);
  }
  return other * shape.hosts + worker % shape.hosts;
}

int NicInUse(Draft& draft) {
  return draft.random.Below(std::min(draft.plan.shape.nics, draft.plan.shape.chips));
}

void PairCut(Draft& draft) {
  const int worker = draft.AnyWorker();
  Fault& fault = draft.Break(Happening::kPairCut, worker);
  fault.other = PeerOf(draft, worker);
  if (draft.random.Chance(0.5)) {
    fault.nic = NicInUse(draft);
  }
  draft.Accept("NETWORKING_ISSUE", {"DCN_LINK"}, draft.Workers({worker, fault.other}));
  AcceptDoubtWithoutWitnesses(draft);
}

Fault& BreakNic(Draft& draft, Happening what) {
  Fault& fault = draft.Break(what, draft.AnyWorker());
  if (draft.plan.shape.nics > 1 && draft.random.Chance(0.7)) {
    fault.nic = NicInUse(draft);
  }
  draft.Accept("NETWORKING_ISSUE", {"DCN_HOST"}, {draft.Worker(fault.worker)});
  draft.plan.truth.removable = {draft.Id(fault.worker)};
  return fault;
}

void NicDies(Draft& draft) { BreakNic(draft, Happening::kNicDies); }

void NicSilent(Draft& draft) {
  const Fault& fault = BreakNic(draft, Happening::kNicSilent);
  // With two slices each pair is cut alone, and no evidence says at which end without other probes.
  const Shape& shape = draft.plan.shape;
  if (shape.slices == 2 || !draft.plan.evidence.probes) {
    std::set<int> ends = {fault.worker};
    for (int slice = 0; slice < shape.slices; ++slice) {
      ends.insert(slice * shape.hosts + fault.worker % shape.hosts);
    }
    draft.Accept("NETWORKING_ISSUE", {}, draft.Workers(ends), true);
  }
  AcceptDoubtWithoutWitnesses(draft);
}

void Cut(Draft& draft, std::set<int> workers) {
  const Shape& shape = draft.plan.shape;
  Fault& fault = draft.Break(Happening::kSwitchCut, *workers.begin());
  fault.workers = workers;
  std::set<int> others;
  for (int worker = 0; worker < shape.workers(); ++worker) {
    if (!workers.contains(worker)) {
      others.insert(worker);
    }
  }
  draft.Accept("NETWORKING_ISSUE", {"DCN_PARTITION"}, draft.Workers(workers), true);
  if (others.size() == workers.size()) {  // pairs across the cut, then, too
    std::set<int> both = workers;
    both.insert(others.begin(), others.end());
    draft.Accept("NETWORKING_ISSUE", {"DCN_PARTITION"}, draft.Workers(both), true);
  } else if (others.size() < workers.size()) {
    draft.Accept("NETWORKING_ISSUE", {"DCN_PARTITION"}, draft.Workers(others), true);
  }
  AcceptDoubtWithoutWitnesses(draft);
}

// Some hosts of one slice behind a switch that dies.
void RackCut(Draft& draft) {
  const Shape& shape = draft.plan.shape;
  const int slice = draft.random.Below(shape.slices);
  const int count = draft.random.Between(2, std::max(2, shape.hosts / 2));
  const int first = draft.random.Below(shape.hosts - count + 1);
  std::set<int> workers;
  for (int i = 0; i < count; ++i) {
    workers.insert(slice * shape.hosts + first + i);
  }
  Cut(draft, std::move(workers));
}

void SliceCut(Draft& draft) {
  const Shape& shape = draft.plan.shape;
  const int slice = draft.random.Below(shape.slices);
  std::set<int> workers;
  for (int task = 0; task < shape.hosts; ++task) {
    workers.insert(slice * shape.hosts + task);
  }
  Cut(draft, std::move(workers));
}

void FirewallOverBlockedHost(Draft& draft) {
  Fault& firewall = draft.Break(Happening::kProbesDropped, draft.AnyWorker());
  firewall.step = 0;
  // Only clean sockets tell such a host from a host that is cut off.
  firewall.both_ways = draft.plan.evidence.sockets && draft.random.Chance(0.5);
  const int worker = draft.AnyWorker();
  draft.Break(Happening::kThreadBlocks, worker).activity = HostActivity::kLock;
  draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, {draft.Worker(worker)});
}

}  // namespace

std::vector<Kind> NetworkKinds() {
  const ShapeNeeds slices{.slices = 2};
  return {
      {"pair-cut", {.shape = slices}, PairCut},
      {"nic-dies", {.shape = slices}, NicDies},
      {"nic-silent", {.shape = slices}, NicSilent},
      {"rack-cut", {.shape = {.slices = 2, .hosts = 4}}, RackCut},
      {"slice-cut", {.shape = {.slices = 2, .hosts = 2}}, SliceCut},
      {"firewall-over-blocked-host", {.shape = slices}, FirewallOverBlockedHost},
  };
}

}  // namespace rapideye::world

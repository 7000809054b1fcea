#include "classifier/wait/self_evident_heads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// Adds clusters at instructions that wait for their own host or SparseCore, by HLO.
void AddProven(HeadList& list) {
  for (const Cluster& cluster : list.group().clusters) {
    if (cluster.hlo_class == HloClass::kInput) {
      list.Add(HeadKind::kInput, cluster.units, cluster.hlo_class);
    } else if (cluster.hlo_class == HloClass::kSparseWait && !list.IsCrowd(cluster)) {
      list.Add(HeadKind::kSparse, cluster.units, cluster.hlo_class);
    }
  }
}

// Several cores of several hosts at one place with a name that tells nothing: rather a collective
// with another name, in which they wait for some other core, than as many bad chips.
bool Doubtful(const HeadList& list, const Cluster& cluster) {
  return !list.positions().place(cluster.place).by_text &&
         cluster.units.size() >= kLeastDoubtfulUnits && !list.OnOneWorker(cluster);
}

// Adds clusters at instructions that wait for no core, by HLO: first those that compute alone,
// then those alone in a kernel, then the others, unless their number makes their text doubtful.
void AddComputing(HeadList& list) {
  const bool others = list.group().clusters.size() > 1 || !list.group().idle.empty();
  if (!others) return;  // of a slice of one core other slices may tell more
  for (const HloClass hlo_class : {HloClass::kCompute, HloClass::kKernel}) {
    bool found = false;
    for (const Cluster& cluster : list.group().clusters) {
      if (cluster.hlo_class != hlo_class || !list.OnOneChip(cluster)) continue;
      if (list.IsCrowd(cluster) && list.group().clusters.size() > 1) continue;
      list.Add(HeadKind::kCompute, cluster.units, cluster.hlo_class);
      found = true;
    }
    if (found) return;
  }
  for (const Cluster& cluster : list.group().clusters) {
    if (cluster.hlo_class != HloClass::kCompute || list.IsCrowd(cluster) ||
        Doubtful(list, cluster) ||
        2 * cluster.units.size() > static_cast<size_t>(list.group().running)) {
      continue;
    }
    list.Add(HeadKind::kCompute, cluster.units, cluster.hlo_class);
  }
}

int64_t MedianFrozen(const HeadList& list) {
  std::vector<int64_t> frozen;
  for (const Cluster& cluster : list.group().clusters) {
    for (int i : cluster.units) {
      if (list.positions().unit(i).frozen_ms) frozen.push_back(*list.positions().unit(i).frozen_ms);
    }
  }
  if (frozen.empty()) return 0;
  const auto middle = frozen.begin() + static_cast<std::ptrdiff_t>(frozen.size() / 2);
  std::nth_element(frozen.begin(), middle, frozen.end());
  return *middle;
}

bool MovesAloneOnHost(const HeadList& list, const Unit& moving, int64_t median) {
  const auto [first, last] = list.positions().UnitsOf(moving.worker);
  bool others = false;
  for (int i = first; i < last; ++i) {
    const Unit& unit = list.positions().unit(i);
    if (unit.core->chip == moving.core->chip || unit.state != UnitState::kRunning) continue;
    others = true;
    if (unit.frozen_ms && *unit.frozen_ms >= median / 4) return true;
  }
  return !others;
}

// Adds a cluster whose pc goes on while the pcs of the others stand still: it loops.
void AddMoving(HeadList& list) {
  const int64_t median = MedianFrozen(list);
  std::vector<const Cluster*> moving;
  for (const Cluster& cluster : list.group().clusters) {
    if (list.IsHead(cluster) || !list.OnOneChip(cluster) || list.group().clusters.size() < 2)
      continue;
    const Unit& unit = list.positions().unit(cluster.units.front());
    if (unit.frozen_ms && *unit.frozen_ms < median / 4 && MovesAloneOnHost(list, unit, median)) {
      moving.push_back(&cluster);
    }
  }
  // To an agent that began to look lately, no core stands for long.
  constexpr size_t kMostLoops = 2;
  if (moving.size() > kMostLoops) return;
  for (const Cluster* cluster : moving) {
    list.Add(list.Behind(cluster->at) ? HeadKind::kLaggard : HeadKind::kElsewhere, cluster->units,
             HloClass::kUnknown);
    list.heads().back().moving = true;
  }
}

// Adds cores with work that they have not begun, while their slice is in that launch or a later
// one: their host still owes them something.
void AddEntry(HeadList& list) {
  std::vector<int> owed;
  for (int unit : list.group().entry) {
    if (list.Behind(list.group().AtOf(unit)) || list.group().AtOf(unit) == list.crowd().at)
      owed.push_back(unit);
  }
  list.Add(HeadKind::kInput, owed, HloClass::kUnknown);
}

}  // namespace

void AddSelfEvident(HeadList& list) {
  AddProven(list);
  AddComputing(list);
  AddMoving(list);
  AddEntry(list);
}

}  // namespace rapideye::classifier

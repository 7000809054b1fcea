#include "classifier/wait/heads_apart.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "classifier/verdict/thresholds.h"
#include "classifier/wait/wavefront.h"

namespace rapideye::classifier {
namespace {

// True if the cores can be a pair of a mesh axis of two: one may wait for the other there.
bool CanBePair(const HeadList& list, int unit, int other) {
  const auto seats = static_cast<int>(list.group().at.size());
  const int first = std::min(unit, other) - list.group().first_unit;
  const int stride = std::abs(unit - other);
  return seats % (2 * stride) == 0 && first / stride % 2 == 0;
}

bool HasMateAmong(const HeadList& list, int unit, const std::vector<const Cluster*>& clusters) {
  return std::any_of(clusters.begin(), clusters.end(), [&](const Cluster* cluster) {
    return cluster->units.front() != unit && CanBePair(list, cluster->units.front(), unit);
  });
}

// `clusters` is not empty.
void KeepFirstToStop(const HeadList& list, std::vector<const Cluster*>& clusters) {
  const auto before = [&](const Cluster* a, const Cluster* b) {
    const auto core = [&](const Cluster* cluster) -> const Core& {
      return *list.positions().unit(cluster->units.front()).core;
    };
    return StoppedBefore(core(a), core(b));
  };
  // One that stopped before all others also does so before whichever was the first until then.
  const Cluster* first = clusters.front();
  for (const Cluster* cluster : clusters) {
    if (before(cluster, first)) first = cluster;
  }
  const bool before_all = std::all_of(
      clusters.begin(), clusters.end(),
      [&](const Cluster* cluster) { return cluster == first || before(first, cluster); });
  if (before_all) clusters = {first};
}

// Adds the cores that stand alone: those not known to wait, if there are any; else the only one
// that is known to wait. Mates that wait for a core of their group have company, unless the
// group is a pair.
bool AddAlone(HeadList& list, HeadKind kind, const std::vector<const Cluster*>& groups) {
  std::vector<const Cluster*> free;
  std::vector<const Cluster*> waiting;
  for (const Cluster* cluster : groups) {
    if (!list.OnOneChip(*cluster)) continue;
    (cluster->hlo_class == HloClass::kInSliceWait ? waiting : free).push_back(cluster);
  }
  const bool mates = std::any_of(groups.begin(), groups.end(),
                                 [&](const Cluster* cluster) { return !list.OnOneChip(*cluster); });
  if (free.empty()) {
    // A core that waits for a worker of which nothing is known stands alone, too.
    if (waiting.size() != 1 || mates || list.group().lacks_workers) return false;
    list.Add(kind, waiting.front()->units, waiting.front()->hlo_class);
    return true;
  }
  KeepFirstToStop(list, free);
  for (const Cluster* cluster : free) {
    list.Add(kind, cluster->units, cluster->hlo_class);
    list.heads().back().or_mate = !mates && HasMateAmong(list, cluster->units.front(), free);
  }
  return true;
}

std::vector<int> HeldByHosts(const HeadList& list, const Cluster& cluster) {
  if (list.OnOneWorker(cluster)) return cluster.units;
  std::map<int, std::vector<int>> by_worker;
  for (int unit : cluster.units) by_worker[list.positions().unit(unit).worker].push_back(unit);
  std::vector<int> units;
  for (const auto& [worker, members] : by_worker) {
    const auto [first, last] = list.positions().UnitsOf(worker);
    if (last - first < 2 || static_cast<int>(members.size()) < last - first) continue;
    units.insert(units.end(), members.begin(), members.end());
  }
  return units;
}

// Two cores of two hosts stand at one place, and all others at another: they fail alike, or they
// are a pair that waits for some other core.
void AddTwoAlike(HeadList& list, HeadKind kind, const Cluster& cluster) {
  const int one = cluster.units.front();
  const int other = cluster.units.back();
  const bool pair = CanBePair(list, one, other);
  const size_t before = list.heads().size();
  list.Add(kind, cluster.units, cluster.hlo_class);
  for (size_t i = before; i < list.heads().size(); ++i) list.heads()[i].or_mate = pair;
}

// The largest of several groups waits for the others. Cores of several hosts that stand
// together wait for another core; all cores of a host, or some of one host, may be held by it.
void AddHosts(HeadList& list, HeadKind kind, const std::vector<const Cluster*>& groups) {
  size_t largest = 0;
  for (const Cluster* cluster : groups) largest = std::max(largest, cluster->units.size());
  if (groups.size() == 1 && groups.front()->units.size() < kLeastDoubtfulUnits &&
      groups.front()->hlo_class != HloClass::kInSliceWait && !list.OnOneWorker(*groups.front())) {
    AddTwoAlike(list, kind, *groups.front());
    return;
  }
  for (const bool may_wait : {false, true}) {
    bool found = false;
    for (const Cluster* cluster : groups) {
      if ((cluster->hlo_class == HloClass::kInSliceWait) != may_wait) continue;
      if (groups.size() > 1 && cluster->units.size() == largest && largest >= 3) continue;
      if (may_wait && groups.size() > 1) continue;
      const std::vector<int> units = HeldByHosts(list, *cluster);
      list.Add(kind, units, cluster->hlo_class);
      found = found || !units.empty();
    }
    if (found) return;
  }
}

// Takes cores in the earliest launch: the mates of a core that stands alone wait for it, and all
// other cores wait for those mates. If a core waits for another slice in that launch, cores that
// are seen to wait for their slice there wait for that core.
void AddLaggards(HeadList& list, std::vector<const Cluster*> groups) {
  const auto waits_outside = [at = groups.front()->at](const Cluster& cluster) {
    return cluster.hlo_class == HloClass::kCrossWait && cluster.at == at;
  };
  const std::vector<Cluster>& clusters = list.group().clusters;
  if (std::any_of(clusters.begin(), clusters.end(), waits_outside)) {
    std::erase_if(groups, [](const Cluster* cluster) {
      return cluster->hlo_class == HloClass::kInSliceWait;
    });
    if (groups.empty()) return;
  }
  if (AddAlone(list, HeadKind::kLaggard, groups)) return;
  AddHosts(list, HeadKind::kLaggard, groups);
}

// True if some wait for another slice at this very launch: those lead, not cores that are
// merely at another place than the largest group.
bool CrossBeside(const HeadList& list) {
  return std::any_of(
      list.group().clusters.begin() + 1, list.group().clusters.end(),
      [](const Cluster& cluster) { return cluster.hlo_class == HloClass::kCrossWait; });
}

// "All but a few at one place and those few elsewhere in the same launch."
void AddBeside(HeadList& list, std::vector<const Cluster*> groups) {
  // A core that has passed the cross-slice wait of the largest cluster, and is seen to wait for
  // its slice, is a victim.
  if (list.crowd().hlo_class == HloClass::kCrossWait) {
    std::erase_if(groups, [](const Cluster* cluster) {
      return cluster->hlo_class == HloClass::kInSliceWait;
    });
  }
  if (groups.empty() || list.group().running < 3) return;
  if (!(list.group().lacks_workers && list.crowd().units.size() > 1) &&
      AddAlone(list, HeadKind::kElsewhere, groups)) {
    return;
  }
  size_t total = 0;
  for (const Cluster* cluster : groups) total += cluster->units.size();
  if (static_cast<double>(total) > kFewShare * list.group().running) return;
  AddHosts(list, HeadKind::kElsewhere, groups);
}

}  // namespace

void AddApart(HeadList& list, bool proven) {
  std::optional<int64_t> earliest;
  for (const Head& head : list.heads()) {
    if (head.at && (!earliest || *head.at < *earliest)) earliest = head.at;
  }
  std::vector<const Cluster*> behind;
  std::vector<const Cluster*> beside;
  std::optional<int64_t> lowest;
  for (const Cluster& cluster : list.group().clusters) {
    if (list.IsCrowd(cluster) || !IsLoose(cluster)) continue;
    if (list.Behind(cluster.at)) {
      if (earliest && *earliest <= *cluster.at) continue;  // waits for that head
      behind.push_back(&cluster);
      if (!lowest || *cluster.at < *lowest) lowest = cluster.at;
    } else if (cluster.at == list.crowd().at || !cluster.at || !list.crowd().at) {
      beside.push_back(&cluster);
    }
  }
  std::erase_if(behind, [&](const Cluster* cluster) { return cluster->at != lowest; });
  if (!behind.empty()) {
    AddLaggards(list, behind);
  } else if (!proven && list.empty() && !CrossBeside(list)) {
    AddBeside(list, beside);
  }
}

}  // namespace rapideye::classifier

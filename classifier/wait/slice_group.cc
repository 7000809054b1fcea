#include "classifier/wait/slice_group.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "classifier/verdict/thresholds.h"
#include "classifier/wait/slice_launches.h"

namespace rapideye::classifier {
namespace {

// True if no core waits there. Several cores in one kernel may wait for others in it, too; and if
// many cores compute by the name of their instruction alone, that is a collective with another
// name.
bool NeverWaits(const Positions& positions, const Cluster& cluster) {
  switch (cluster.hlo_class) {
    case HloClass::kInput:
      return true;
    case HloClass::kKernel:
      return cluster.units.size() == 1;
    case HloClass::kCompute:
      return positions.place(cluster.place).by_text || cluster.units.size() < kLeastDoubtfulUnits;
    default:
      return false;
  }
}

using ClusterKey = std::pair<std::optional<int64_t>, int>;  // at, place

// The largest group; a tie goes to a group that can be waiting, then to the group that is
// further on, so that cores that moved on are not taken for cores that hold others up.
std::tuple<bool, size_t, int, std::optional<int64_t>> ClusterRank(const Positions& positions,
                                                                  const Cluster& cluster) {
  const int patience = cluster.hlo_class == HloClass::kUnknown ? 0 : 1;
  return {!NeverWaits(positions, cluster), cluster.units.size(), patience, cluster.at};
}

// The running units of the slice. The others go into the group by their states.
std::vector<int> SortUnits(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int last, SliceGroup& group) {
  std::vector<int> running;
  for (int i = group.first_unit; i < last; ++i) {
    const Unit& unit = positions.unit(i);
    group.at.push_back(unit.at);
    // Diverged workers are judged by their programs; spare workers belong to no step.
    if (divergence.is_foreign[static_cast<size_t>(unit.worker)]) continue;
    if (!topology.worker(unit.worker).in_named_cohort) continue;
    switch (unit.state) {
      case UnitState::kRunning:
        running.push_back(i);
        break;
      case UnitState::kIdle:
        group.idle.push_back(i);
        break;
      case UnitState::kEntry:
        group.entry.push_back(i);
        break;
      case UnitState::kUnclear:
        group.unclear.push_back(i);
        break;
    }
  }
  return running;
}

// The first of the units that stand where most do, in one launch.
int FirstOfMost(const Positions& positions, const std::vector<int>& running) {
  using Stand = std::tuple<int, std::optional<int32_t>, int>;  // program, launch, place
  const auto stand_of = [&](int i) {
    const Unit& unit = positions.unit(i);
    return Stand(unit.program, unit.core->launch_id, unit.place);
  };
  std::map<Stand, std::pair<int, int>> stands;  // how many, the first
  auto last = stands.end();                     // nearly all stand like the one before
  for (int i : running) {
    const Stand stand = stand_of(i);
    if (last == stands.end() || last->first != stand) {
      last = stands.try_emplace(stand, 0, i).first;
    }
    ++last->second.first;
  }
  return std::min_element(stands.begin(), stands.end(),
                          [](const auto& a, const auto& b) {
                            return std::pair(-a.second.first, a.second.second) <
                                   std::pair(-b.second.first, b.second.second);
                          })
      ->second.second;
}

}  // namespace

SliceGroup BuildSliceGroup(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int slice) {
  const SliceInfo& info = topology.slices()[static_cast<size_t>(slice)];
  SliceGroup group;
  for (int i = info.first; i < info.last; ++i) {
    const WorkerInfo& worker = topology.worker(i);
    const auto [begin, end] = positions.UnitsOf(i);
    group.lacks_workers =
        group.lacks_workers || worker.snapshot == nullptr || (begin == end && !worker.standby);
  }
  group.first_unit = positions.UnitsOf(info.first).first;
  const int last = positions.UnitsOf(info.last - 1).second;
  const std::vector<int> running = SortUnits(topology, positions, divergence, last, group);
  group.running = static_cast<int>(running.size());
  if (running.empty()) return group;

  const int largest = FirstOfMost(positions, running);
  if (!positions.unit(largest).at.has_value()) {
    const LocalOrder local(topology, positions, largest);
    for (int i = group.first_unit; i < last; ++i) {
      group.at[static_cast<size_t>(i - group.first_unit)] = local.At(positions.unit(i));
    }
  }

  if (positions.unit(largest).at.has_value()) PlaceByQueues(topology, positions, largest, group);
  InferLaunches(positions, running, group);
  std::map<ClusterKey, Cluster> clusters;
  auto last_cluster = clusters.end();
  for (int i : running) {
    const Unit& unit = positions.unit(i);
    const ClusterKey key{group.AtOf(i), unit.place};
    if (last_cluster == clusters.end() || last_cluster->first != key) {
      last_cluster = clusters.try_emplace(key).first;
    }
    Cluster& cluster = last_cluster->second;
    cluster.at = key.first;
    cluster.place = key.second;
    cluster.hlo_class = positions.place(key.second).hlo_class;
    cluster.units.push_back(i);
  }
  for (auto& [key, cluster] : clusters) group.clusters.push_back(std::move(cluster));
  std::stable_sort(group.clusters.begin(), group.clusters.end(),
                   [&](const Cluster& a, const Cluster& b) {
                     return ClusterRank(positions, a) > ClusterRank(positions, b);
                   });
  return group;
}

}  // namespace rapideye::classifier

#include "classifier/wait/slice_heads.h"

#include <cstdint>
#include <map>
#include <utility>

#include "classifier/wait/head_list.h"
#include "classifier/wait/heads_apart.h"
#include "classifier/wait/idle_heads.h"
#include "classifier/wait/self_evident_heads.h"

namespace rapideye::classifier {
namespace {

// Adds cores in an earlier launch whose place was not reported.
void AddUnclear(HeadList& list) {
  std::vector<int> behind;
  for (int unit : list.group().unclear) {
    if (list.Behind(list.group().AtOf(unit))) behind.push_back(unit);
  }
  list.Add(HeadKind::kLaggard, behind, HloClass::kUnknown);
}

void AddCross(HeadList& list) {
  if (!list.empty()) return;
  for (const Cluster& cluster : list.group().clusters) {
    if (list.IsCrowd(cluster) || cluster.hlo_class != HloClass::kCrossWait) continue;
    if (cluster.at && list.crowd().at && *cluster.at > *list.crowd().at) continue;
    list.Add(HeadKind::kCrossWait, cluster.units, cluster.hlo_class);
  }
}

SliceState StateOfSlice(const HeadList& list) {
  for (const Head& head : list.heads()) {
    if (head.kind != HeadKind::kCrossWait) return SliceState::kHeaded;
  }
  if (!list.empty() || list.crowd().hlo_class == HloClass::kCrossWait) {
    return SliceState::kWaitsOutside;
  }
  if (list.crowd().hlo_class == HloClass::kInSliceWait) return SliceState::kWaitsInside;
  return SliceState::kUnclear;
}

// No head holds the largest cluster up, yet some whole workers are in a later launch:
// they have passed a launch in which their slice still meets.
void NoteAhead(const HeadList& list, std::vector<int>& ahead) {
  if (list.crowd().hlo_class == HloClass::kCrossWait) return;
  std::map<int, int> later;
  for (const Cluster& cluster : list.group().clusters) {
    if (!cluster.at || !list.crowd().at || *cluster.at <= *list.crowd().at) continue;
    for (int unit : cluster.units) ++later[list.positions().unit(unit).worker];
  }
  for (const auto& [worker, count] : later) {
    const auto [first, last] = list.positions().UnitsOf(worker);
    if (count == last - first) ahead.push_back(worker);
  }
}

}  // namespace

std::vector<Head> HeadsOfSliceGroup(const Positions& positions, const SliceGroup& group,
                                    SliceView& view, std::vector<int>& ahead) {
  view.running = group.running;
  view.idle = static_cast<int>(group.idle.size());
  if (group.clusters.empty()) {
    view.state = group.idle.empty() ? SliceState::kEmpty : SliceState::kIdle;
    return {};
  }
  HeadList list(positions, group);
  view.crowd_place = list.crowd().place;
  view.crowd_at = list.crowd().at;
  view.cluster = static_cast<int>(list.crowd().units.size());
  AddSelfEvident(list);
  const bool proven = !list.empty();
  if (list.empty()) AddLeftAlone(list);
  AddIdle(list);
  DropBehindIdle(list);
  AddApart(list, proven);
  if (list.empty()) AddUnclear(list);
  AddCross(list);
  view.state = StateOfSlice(list);
  if (list.IsHead(list.crowd())) view.cluster = 0;
  if (list.empty()) NoteAhead(list, ahead);
  return std::move(list.heads());
}

}  // namespace rapideye::classifier

#include "classifier/wait/head_list.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace rapideye::classifier {

void HeadList::Add(HeadKind kind, const std::vector<int>& units, HloClass hlo_class) {
  std::map<int, std::vector<int>> by_worker;
  for (int unit : units) by_worker[positions_.unit(unit).worker].push_back(unit);
  for (auto& [worker, members] : by_worker) {
    Head head;
    head.kind = kind;
    head.worker = worker;
    const auto [first, last] = positions_.UnitsOf(worker);
    // Cores without a known place are evidence neither for nor against a whole host.
    int placed = 0;
    for (int i = first; i < last; ++i) {
      if (positions_.unit(i).state != UnitState::kUnclear) ++placed;
    }
    head.whole_host = members.size() >= 2 && static_cast<int>(members.size()) >= placed;
    head.place = positions_.unit(members.front()).place;
    for (int unit : members) {
      if (positions_.unit(unit).place != head.place) head.whole_host = false;
      const Unit& u = positions_.unit(unit);
      head.moving = head.moving || IsMoving(u);
    }
    head.at = group_.AtOf(members.front());
    head.behind = Behind(head.at);
    head.hlo_waits = hlo_class == HloClass::kInSliceWait || hlo_class == HloClass::kMaybeWait;
    Mark(members, true);
    head.units = std::move(members);
    heads_.push_back(std::move(head));
  }
}

void HeadList::Drop(const std::function<bool(const Head&)>& is_dropped) {
  std::erase_if(heads_, [&](const Head& head) {
    if (!is_dropped(head)) return false;
    Mark(head.units, false);
    return true;
  });
}

void HeadList::Mark(const std::vector<int>& units, bool leads) {
  for (int unit : units) leads_[static_cast<size_t>(unit - group_.first_unit)] = leads;
}

bool HeadList::Behind(std::optional<int64_t> at) const {
  return at.has_value() && crowd().at.has_value() && *at < *crowd().at;
}

bool HeadList::IsHead(const Cluster& cluster) const {
  return leads_[static_cast<size_t>(cluster.units.front() - group_.first_unit)];
}

bool HeadList::OnlyHeadsRun() const {
  return !heads_.empty() && std::all_of(group_.clusters.begin(), group_.clusters.end(),
                                        [&](const Cluster& cluster) { return IsHead(cluster); });
}

bool HeadList::OnOneChip(const Cluster& cluster) const {
  const Unit& first = positions_.unit(cluster.units.front());
  return std::all_of(cluster.units.begin(), cluster.units.end(), [&](int i) {
    const Unit& unit = positions_.unit(i);
    return i == cluster.units.front() ||
           (unit.worker == first.worker && unit.core->chip.has_value() &&
            unit.core->chip == first.core->chip);
  });
}

bool HeadList::OnOneWorker(const Cluster& cluster) const {
  return positions_.unit(cluster.units.front()).worker ==
         positions_.unit(cluster.units.back()).worker;
}

bool IsLoose(const Cluster& cluster) {
  return cluster.hlo_class == HloClass::kUnknown || cluster.hlo_class == HloClass::kInSliceWait ||
         cluster.hlo_class == HloClass::kMaybeWait || cluster.hlo_class == HloClass::kKernel;
}

}  // namespace rapideye::classifier

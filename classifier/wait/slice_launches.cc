#include "classifier/wait/slice_launches.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "classifier/wait/wavefront.h"

namespace rapideye::classifier {

LocalOrder::LocalOrder(const Topology& topology, const Positions& positions, int crowd_unit)
    : topology_(topology),
      base_(topology.Chain(positions.unit(crowd_unit).worker, *positions.unit(crowd_unit).core)) {}

std::optional<int64_t> LocalOrder::At(const Unit& unit) const {
  const Launch own = topology_.LaunchAt(unit.worker, *unit.core, 0);
  const int64_t after = unit.state == UnitState::kIdle ? 1 : 0;
  if (own.program < 0 || !own.id) return std::nullopt;
  for (size_t j = 0; j < base_.size(); ++j) {
    if (base_[j].program != own.program || !base_[j].id) continue;
    const int64_t distance = SerialDistance(*own.id, *base_[j].id);
    // The unit is past this entry of the queue, at it, or at an earlier instance of it.
    if (j == 0) return 2 * distance + after;
    return distance >= 0 ? 2 * static_cast<int64_t>(j) + after : -2 + after;
  }
  for (size_t j = 1; j <= unit.core->queued.size(); ++j) {
    const Launch queued = topology_.LaunchAt(unit.worker, *unit.core, j);
    if (queued.program != base_.front().program || !queued.id || !base_.front().id) continue;
    if (SerialDistance(*queued.id, *base_.front().id) <= 0) {
      return -2 * static_cast<int64_t>(j) + after;
    }
  }
  return std::nullopt;
}

void InferLaunches(const Positions& positions, const std::vector<int>& running, SliceGroup& group) {
  const bool all_known = std::none_of(running.begin(), running.end(), [&](int i) {
    return !group.AtOf(i).has_value() && !positions.unit(i).core->launch_id.has_value();
  });
  if (all_known) return;
  std::map<int, std::map<int64_t, int>> known;  // place -> at -> units
  for (int i : running) {
    if (const auto at = group.AtOf(i)) ++known[positions.unit(i).place][*at];
  }
  for (int i : running) {
    auto it = known.find(positions.unit(i).place);
    if (group.AtOf(i).has_value() || positions.unit(i).core->launch_id.has_value() ||
        it == known.end()) {
      continue;
    }
    const auto most =
        std::max_element(it->second.begin(), it->second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    group.at[static_cast<size_t>(i - group.first_unit)] = most->first;
  }
}

void PlaceByQueues(const Topology& topology, const Positions& positions, int crowd_unit,
                   SliceGroup& group) {
  const int64_t crowd = *positions.unit(crowd_unit).at;
  const LocalOrder local(topology, positions, crowd_unit);
  for (size_t i = 0; i < group.at.size(); ++i) {
    const Unit& unit = positions.unit(group.first_unit + static_cast<int>(i));
    if (group.at[i].has_value() || unit.state != UnitState::kRunning) continue;
    const std::optional<int64_t> at = local.At(unit);
    if (at.has_value() && *at != 0) group.at[i] = *at > 0 ? crowd + 1 : crowd - 1;
  }
}

}  // namespace rapideye::classifier

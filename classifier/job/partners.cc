#include "classifier/job/partners.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace rapideye::classifier {

Partners::Partners(const Topology& topology, const Positions& positions)
    : topology_(topology), positions_(positions) {
  AddCollectives();
  if (!collectives_.empty()) AddDevices();
}

// Several workers tell groups of a collective, each at least its own. A device that is in two of
// them makes all of it unknown.
std::optional<Partners::Groups> Partners::Merge(const std::vector<const Collective*>& said) {
  const auto is_pairs = [](const Collective* one) { return one->pairs.value_or(false); };
  if (std::all_of(said.begin(), said.end(), is_pairs)) return MergePairs(said);
  if (std::any_of(said.begin(), said.end(), is_pairs)) return std::nullopt;
  Groups merged;
  for (const Collective* collective : said) {
    for (const DeviceGroup& group : collective->groups) {
      std::vector<int64_t> devices = group.devices;
      std::sort(devices.begin(), devices.end());
      const auto known = merged.of_device.find(devices.front());
      if (known != merged.of_device.end()) {
        if (merged.groups[known->second].devices != devices) return std::nullopt;
        continue;
      }
      for (const int64_t device : devices) {
        if (!merged.of_device.emplace(device, merged.groups.size()).second) return std::nullopt;
      }
      merged.groups.push_back({std::move(devices)});
    }
  }
  if (merged.groups.empty()) return std::nullopt;
  return merged;
}

// A target that two sources send to makes all of it unknown, as does what is no pair.
std::optional<Partners::Groups> Partners::MergePairs(const std::vector<const Collective*>& said) {
  Groups merged;
  merged.pairs = true;
  for (const Collective* collective : said) {
    for (const DeviceGroup& pair : collective->groups) {
      if (pair.devices.size() != 2 || pair.devices[0] == pair.devices[1]) return std::nullopt;
      const auto [known, added] = merged.of_device.emplace(pair.devices[1], merged.groups.size());
      if (added) {
        merged.groups.push_back(pair);
      } else if (merged.groups[known->second] != pair) {
        return std::nullopt;
      }
    }
  }
  if (merged.groups.empty()) return std::nullopt;
  return merged;
}

void Partners::AddCollectives() {
  // A place is an instruction of a program, where that is known.
  std::map<std::pair<int, std::string_view>, std::vector<const Collective*>> said;
  for (size_t w = 0; w < topology_.workers().size(); ++w) {
    const Snapshot* snapshot = topology_.workers()[w].snapshot;
    if (snapshot == nullptr) continue;
    for (const Collective& collective : snapshot->collectives) {
      Core core;
      core.program = collective.program;
      const int program = topology_.ProgramOf(static_cast<int>(w), core);
      said[{program, collective.instruction}].push_back(&collective);
    }
  }
  if (said.empty()) return;
  for (size_t i = 0; i < positions_.places().size(); ++i) {
    const Place& place = positions_.places()[i];
    if (place.hlo.empty() || place.core_type != CoreType::kTensorCore) continue;
    const auto found = said.find({place.program, place.hlo});
    if (found == said.end()) continue;
    std::optional<Groups> groups = Merge(found->second);
    if (groups) collectives_.emplace(static_cast<int>(i), *std::move(groups));
  }
}

void Partners::ClaimDevice(int64_t device, int worker) {
  const auto [claim, added] = worker_of_.emplace(device, worker);
  if (!added && claim->second != worker) claim->second = -1;
}

void Partners::AddDevices() {
  const size_t workers = topology_.workers().size();
  for (size_t w = 0; w < workers; ++w) {
    const Snapshot* snapshot = topology_.workers()[w].snapshot;
    if (snapshot == nullptr) continue;
    for (const int64_t device : snapshot->devices) ClaimDevice(device, static_cast<int>(w));
    for (const Core& core : snapshot->cores) {
      if (core.device) ClaimDevice(*core.device, static_cast<int>(w));
    }
  }
  devices_.resize(workers);
  for (const auto& [device, worker] : worker_of_) {
    if (worker >= 0) devices_[static_cast<size_t>(worker)].push_back(device);
  }
  device_of_.resize(positions_.units().size());
  for (int w = 0; w < static_cast<int>(workers); ++w) {
    const auto [first, last] = positions_.UnitsOf(w);
    const auto& own = devices_[static_cast<size_t>(w)];
    for (int unit = first; unit < last; ++unit) {
      std::optional<int64_t> device = positions_.unit(unit).core->device;
      if (!device && last - first == 1 && own.size() == 1) device = own.front();
      if (!device || worker_of_.at(*device) != w) continue;
      // Two units cannot be one device.
      const auto [known, added] = unit_of_.emplace(*device, unit);
      if (added) {
        device_of_[static_cast<size_t>(unit)] = device;
      } else {
        device_of_[static_cast<size_t>(known->second)].reset();
      }
    }
  }
}

bool Partners::UnitsAreDevices(int worker) const {
  const auto [first, last] = positions_.UnitsOf(worker);
  return static_cast<size_t>(last - first) == devices_[static_cast<size_t>(worker)].size();
}

const Partners::Groups* Partners::GroupsAt(int unit) const {
  const Unit& u = positions_.unit(unit);
  const auto found = collectives_.find(u.place);
  if (u.state != UnitState::kRunning || found == collectives_.end()) return nullptr;
  return &found->second;
}

const DeviceGroup* Partners::GroupOf(int unit) const {
  const Groups* groups = GroupsAt(unit);
  return groups == nullptr || groups->pairs ? nullptr : GroupIn(*groups, unit);
}

const DeviceGroup* Partners::GroupIn(const Groups& groups, int unit) const {
  const Unit& u = positions_.unit(unit);
  const auto group_of = [&](int64_t device) -> const DeviceGroup* {
    const auto in = groups.of_device.find(device);
    return in == groups.of_device.end() ? nullptr : &groups.groups[in->second];
  };
  if (const auto& device = device_of_[static_cast<size_t>(unit)]) return group_of(*device);
  // All devices of the worker in one group: whichever of them the unit is, it is in that group.
  if (!UnitsAreDevices(u.worker)) return nullptr;
  const auto& own = devices_[static_cast<size_t>(u.worker)];
  const DeviceGroup* group = own.empty() ? nullptr : group_of(own.front());
  const bool one = std::all_of(own.begin(), own.end(),
                               [&](int64_t device) { return group_of(device) == group; });
  return one ? group : nullptr;
}

Partners::Has Partners::Arrival(int unit, int other, const LaunchOf& launch_of,
                                const std::function<bool(int unit)>& counts) const {
  if (!counts(other)) return Has::kUnknown;
  const std::optional<int64_t> at = launch_of(unit);
  const std::optional<int64_t> there = launch_of(other);
  if (at && there && *there > *at) return Has::kArrived;  // it has ended this launch
  const Unit& own = positions_.unit(unit);
  const Unit& mate = positions_.unit(other);
  if (mate.state == UnitState::kRunning) {
    return mate.place == own.place && there == at ? Has::kArrived : Has::kNot;
  }
  const bool before = at && there && *there < *at;
  return before ? Has::kNot : Has::kUnknown;
}

bool Partners::IsFurtherOn(int unit, int other) const {
  const Unit& own = positions_.unit(unit);
  const Unit& mate = positions_.unit(other);
  if (own.place < 0 || mate.place < 0) return false;
  const Place& here = positions_.place(own.place);
  const Place& there = positions_.place(mate.place);
  return here.program == there.program && there.pc > here.pc;
}

std::optional<std::vector<int>> Partners::SourcesOf(const Groups& groups, int unit,
                                                    GroupWait& wait) const {
  const int worker = positions_.unit(unit).worker;
  std::vector<int64_t> own = devices_[static_cast<size_t>(worker)];
  if (const auto& device = device_of_[static_cast<size_t>(unit)]) {
    own = {*device};
  } else if (own.empty() || !UnitsAreDevices(worker)) {
    return std::nullopt;
  }
  std::set<int> units;
  for (const int64_t device : own) {
    const auto pair = groups.of_device.find(device);
    if (pair == groups.of_device.end()) return std::nullopt;
    const int64_t source = groups.groups[pair->second].devices.front();
    const auto at = worker_of_.find(source);
    if (at == worker_of_.end() || at->second < 0) {
      wait.unseen = true;
      continue;
    }
    if (topology_.worker(at->second).slice != topology_.worker(worker).slice) return std::nullopt;
    if (const auto known = unit_of_.find(source); known != unit_of_.end()) {
      units.insert(known->second);
      continue;
    }
    wait.unseen = wait.unseen || !UnitsAreDevices(at->second);
    const auto [first, last] = positions_.UnitsOf(at->second);
    for (int i = first; i < last; ++i) {
      if (!device_of_[static_cast<size_t>(i)]) units.insert(i);
    }
  }
  units.erase(unit);  // no device is its own source
  return std::vector<int>(units.begin(), units.end());
}

std::optional<GroupWait> Partners::OfPair(const Groups& groups, int unit, const LaunchOf& launch_of,
                                          const std::function<bool(int unit)>& counts) const {
  GroupWait wait;
  wait.members = 2;
  wait.arrived = 1;
  const std::optional<std::vector<int>> sources = SourcesOf(groups, unit, wait);
  if (!sources) return std::nullopt;
  size_t arrived = 0;
  size_t absent = 0;
  for (const int source : *sources) {
    Has it = Arrival(unit, source, launch_of, counts);
    // A source that has sent goes on, though its target may stand there still.
    if (it == Has::kNot && IsFurtherOn(unit, source)) it = Has::kUnknown;
    arrived += it == Has::kArrived ? 1 : 0;
    absent += it == Has::kNot ? 1 : 0;
  }
  // The source is one of these: they tell of it if they are all alike.
  wait.unseen = wait.unseen || (arrived < sources->size() && absent < sources->size());
  if (wait.unseen || sources->empty()) return wait;
  if (absent > 0) {
    wait.awaited.push_back(*sources);
  } else {
    wait.arrived = 2;
  }
  return wait;
}

std::optional<GroupWait> Partners::Of(int unit, const LaunchOf& launch_of,
                                      const std::function<bool(int unit)>& counts) const {
  const Groups* groups = GroupsAt(unit);
  if (groups == nullptr) return std::nullopt;
  if (groups->pairs) return OfPair(*groups, unit, launch_of, counts);
  const DeviceGroup* group = GroupIn(*groups, unit);
  if (group == nullptr) return std::nullopt;
  const Unit& own = positions_.unit(unit);
  const auto has = [&](int other) {
    return other == unit ? Has::kArrived : Arrival(unit, other, launch_of, counts);
  };
  GroupWait wait;
  wait.members = static_cast<int>(group->devices.size());
  std::map<int, int> unplaced;  // worker -> members that are some unit of it
  for (const int64_t device : group->devices) {
    const auto worker = worker_of_.find(device);
    if (worker == worker_of_.end() || worker->second < 0) {
      wait.unseen = true;
      continue;
    }
    if (topology_.worker(worker->second).slice != topology_.worker(own.worker).slice) {
      return std::nullopt;
    }
    const auto known = unit_of_.find(device);
    if (known == unit_of_.end()) {
      ++unplaced[worker->second];
      continue;
    }
    const Has it = has(known->second);
    wait.arrived += it == Has::kArrived ? 1 : 0;
    wait.unseen = wait.unseen || it == Has::kUnknown;
    if (it == Has::kNot) wait.awaited.push_back({known->second});
  }
  for (const auto& [worker, members] : unplaced) {
    const auto [first, last] = positions_.UnitsOf(worker);
    std::vector<int> not_there;
    int arrived = 0;
    bool unknown = !UnitsAreDevices(worker);
    for (int i = first; i < last; ++i) {
      if (device_of_[static_cast<size_t>(i)]) continue;  // another device
      const Has it = has(i);
      unknown = unknown || it == Has::kUnknown;
      if (it == Has::kArrived) ++arrived;
      if (it == Has::kNot) not_there.push_back(i);
    }
    // Of the members at most as many have arrived as units of that worker have.
    const int absent = std::max(0, members - arrived);
    if (unknown || (absent<members&& static_cast<int>(not_there.size())> absent)) {
      wait.unseen = true;
    }
    if (unknown) continue;
    wait.arrived += std::min(members, arrived);
    for (int i = 0; i < absent; ++i) wait.awaited.push_back(not_there);
  }
  return wait;
}

}  // namespace rapideye::classifier

#include "tests/world/meetings.h"

#include <algorithm>

namespace rapideye::world {

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

uint64_t HashOf(std::initializer_list<uint64_t> parts) {
  uint64_t hash = 0;
  for (const uint64_t part : parts) {
    hash = Random(hash ^ part).Next();
  }
  return hash;
}

const std::vector<int>& Meetings::GroupOf(const Attendance& attendance) const {
  auto& groups = groups_[attendance.axes];
  if (groups.empty()) {
    for (int i = 0; i < plan_.shape.devices_per_slice(); ++i) {
      groups.push_back(plan_.shape.Group(attendance.axes, i));
    }
  }
  return groups[static_cast<size_t>(plan_.shape.local_of(attendance.device))];
}

uint64_t Meetings::KeyOf(const Attendance& a) const {
  const int slice = a.device / plan_.shape.devices_per_slice();
  return HashOf({a.program, static_cast<uint64_t>(a.ordinal), static_cast<uint64_t>(a.instruction),
                 static_cast<uint64_t>(a.turn), static_cast<uint64_t>(slice), a.axes,
                 static_cast<uint64_t>(GroupOf(a).front()), static_cast<uint64_t>(a.plane)});
}

const Meeting* Meetings::Find(const Attendance& attendance) const {
  const auto found = meetings_.find(KeyOf(attendance));
  return found == meetings_.end() ? nullptr : &found->second;
}

bool Meetings::Broken(const Attendance& attendance) const {
  const int base = attendance.device - plan_.shape.local_of(attendance.device);
  const std::vector<int>& group = GroupOf(attendance);
  const auto in = [&](int device) {
    return std::find(group.begin(), group.end(), device - base) != group.end();
  };
  return std::any_of(broken_.begin(), broken_.end(),
                     [&](const Fault* fault) { return in(fault->device) && in(fault->other); });
}

bool Meetings::Join(const Attendance& attendance) {
  Meeting& meeting = At(attendance);
  meeting.arrived.insert(attendance.core);
  meeting.devices.insert(attendance.device);
  return meeting.arrived.size() == GroupOf(attendance).size() && !Broken(attendance);
}

int Meetings::RingSteps(const Attendance& attendance) const {
  const Meeting* meeting = Find(attendance);
  if (meeting == nullptr || meeting->done.has_value()) {
    return 0;
  }
  const int local = plan_.shape.local_of(attendance.device);
  const int base = attendance.device - local;
  const std::vector<int>& group = GroupOf(attendance);
  const size_t size = group.size();
  const auto own =
      static_cast<size_t>(std::find(group.begin(), group.end(), local) - group.begin());
  size_t steps = 0;
  while (steps + 1 < size &&
         meeting->devices.contains(base + group[(own + size - steps - 1) % size])) {
    ++steps;
  }
  return static_cast<int>(steps);
}

}  // namespace rapideye::world

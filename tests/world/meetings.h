// Meetings tracks the collectives of a job: who has come to which, and which are complete.
#ifndef RAPIDEYE_TESTS_WORLD_MEETINGS_H_
#define RAPIDEYE_TESTS_WORLD_MEETINGS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/world/plan.h"

namespace rapideye::world {

// Stable over runs and platforms.
uint64_t HashOf(const std::string& text);
uint64_t HashOf(std::initializer_list<uint64_t> parts);

// One execution of one collective by one core. Two cores meet if all but `core` and `device`
// agree, and their devices belong to one group of `axes`.
struct Attendance {
  int core = 0;  // of the engine
  int device = 0;
  int plane = 0;         // 0: TensorCores; 1, 2, ...: SparseCores of that number
  uint64_t program = 0;  // hash of its fingerprint
  int ordinal = 0;       // of the launch
  int instruction = 0;
  int turn = 0;
  unsigned axes = 0;
};

struct Meeting {
  std::set<int> arrived;       // cores
  std::set<int> devices;       // theirs
  std::optional<double> done;  // when its result is there
};

class Meetings {
 public:
  explicit Meetings(const Plan& plan) : plan_(plan) {}

  // Adds the core. True if all cores have come now, and the links between them work.
  bool Join(const Attendance& attendance);
  Meeting& At(const Attendance& attendance) { return meetings_[KeyOf(attendance)]; }
  // Null if no core has come yet.
  const Meeting* Find(const Attendance& attendance) const;
  // How many steps of a ring this device could do: each needs the neighbour's of the step
  // before, so a device further downstream of an absent device can do more.
  int RingSteps(const Attendance& attendance) const;
  void BreakLink(const Fault& fault) { broken_.push_back(&fault); }

 private:
  const std::vector<int>& GroupOf(const Attendance& attendance) const;
  uint64_t KeyOf(const Attendance& attendance) const;
  bool Broken(const Attendance& attendance) const;

  const Plan& plan_;
  std::unordered_map<uint64_t, Meeting> meetings_;
  std::vector<const Fault*> broken_;
  mutable std::map<unsigned, std::vector<std::vector<int>>> groups_;
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_MEETINGS_H_

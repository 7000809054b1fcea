// Partners finds the cores that meet at a collective, by the groups that the text of its program
// names and by the numbers of the workers' devices.
#ifndef RAPIDEYE_CLASSIFIER_JOB_PARTNERS_H_
#define RAPIDEYE_CLASSIFIER_JOB_PARTNERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// The wait of a core at a collective for the other members of its group.
struct GroupWait {
  int members = 0;  // devices of the group, its own included
  int arrived = 0;  // that stand at the collective, its own included, or are past its launch
  // One entry for each member that has not arrived: its unit, or all units that it may be, where
  // the devices of a worker cannot be told apart.
  std::vector<std::vector<int>> awaited;
  bool unseen = false;  // of some member it is not known whether it has arrived
};

// Refers into the topology and the positions. The groups and the numbers are what workers say: a
// device that two workers claim, and a collective of which two say different things, is unknown.
class Partners {
 public:
  Partners(const Topology& topology, const Positions& positions);

  // True if no group of any collective is known.
  bool empty() const { return collectives_.empty(); }

  // The devices that meet where the unit stands, itself among them, sorted; null: not known, or a
  // permutation, at which each has a source of its own.
  const DeviceGroup* GroupOf(int unit) const;

  // In which launch a unit stands; comparable among the units of a slice.
  using LaunchOf = std::function<std::optional<int64_t>(int unit)>;

  // Absent: the group of the unit is not known, or holds devices outside of its slice. At a
  // permutation a target waits for its source: the two are the group, and who has no source waits
  // for nobody. `counts`: whether the position of a unit says anything of this step.
  std::optional<GroupWait> Of(int unit, const LaunchOf& launch_of,
                              const std::function<bool(int unit)>& counts) const;

 private:
  struct Groups {
    std::vector<DeviceGroup> groups;
    absl::flat_hash_map<int64_t, size_t> of_device;  // of pairs: of the target
    bool pairs = false;                              // of source and target
  };

  enum class Has { kArrived, kNot, kUnknown };

  // States if `other` has come to the collective at which `unit` stands.
  Has Arrival(int unit, int other, const LaunchOf& launch_of,
              const std::function<bool(int unit)>& counts) const;
  // The units of which one is the source of the unit; sets `wait.unseen` if some of them are not
  // known. Absent: it has no source, or one outside of its slice, or cannot be told from mates
  // that have none.
  std::optional<std::vector<int>> SourcesOf(const Groups& groups, int unit, GroupWait& wait) const;
  // The wait of a unit at a permutation for its source.
  std::optional<GroupWait> OfPair(const Groups& groups, int unit, const LaunchOf& launch_of,
                                  const std::function<bool(int unit)>& counts) const;
  // True if `other` stands at a later place of the same program: code is laid out in its order.
  bool IsFurtherOn(int unit, int other) const;
  // The collective at which the unit stands; null: its groups are not known.
  const Groups* GroupsAt(int unit) const;
  // Among `groups`, which are of the place of the unit.
  const DeviceGroup* GroupIn(const Groups& groups, int unit) const;
  void AddDevices();
  void ClaimDevice(int64_t device, int worker);
  void AddCollectives();
  static std::optional<Groups> Merge(const std::vector<const Collective*>& said);
  static std::optional<Groups> MergePairs(const std::vector<const Collective*>& said);
  // True if the worker's units are its devices, one each.
  bool UnitsAreDevices(int worker) const;

  const Topology& topology_;
  const Positions& positions_;
  absl::flat_hash_map<int64_t, int> worker_of_;    // by device; -1: several claim it
  absl::flat_hash_map<int64_t, int> unit_of_;      // by device, where it is known
  std::vector<std::optional<int64_t>> device_of_;  // by unit
  std::vector<std::vector<int64_t>> devices_;      // by worker, those that it alone claims
  absl::flat_hash_map<int, Groups> collectives_;   // by place
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_PARTNERS_H_

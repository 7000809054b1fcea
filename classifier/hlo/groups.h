// HloGroups lists the devices that take part in an HLO collective together.
#ifndef RAPIDEYE_CLASSIFIER_HLO_GROUPS_H_
#define RAPIDEYE_CLASSIFIER_HLO_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rapideye::classifier {

using HloGroups = std::vector<std::vector<int64_t>>;

// More than the devices of the largest job: a list that would be longer is taken for none.
inline constexpr int64_t kMaxHloDevices = 200'000;

// Reads the value of replica_groups, in all its forms:
//   {{0,1},{2,3}}
//   [2,4]<=[8], [2,4]<=[4,2]T(1,0)             groups of an iota, reshaped and transposed
//   mesh['a'=2,'b'=4] {'a'}                    along axes of a mesh
//   mesh['a'=8] {'a':(2)4}                     along a part of an axis: 4 steps, 2 before it
//   mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}
//   mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}   the same
// {} are all `devices` together. Also reads source_target_pairs, {{0,1},{1,2}}. Empty: none
// of these, or too many.
HloGroups ParseHloGroups(std::string_view value, int64_t devices);

// replica_count times num_partitions of a module's attributes; 1 each if it is not said.
int64_t HloDevices(std::string_view module_attributes);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_GROUPS_H_

#include "classifier/hlo/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rapideye::classifier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::vector<int64_t>> Plain(const std::vector<DeviceGroup>& groups) {
  std::vector<std::vector<int64_t>> plain;
  for (const DeviceGroup& group : groups) plain.push_back(group.devices);
  return plain;
}

// As XLA writes it for a mesh over devices 3, 0, 2, 1.
constexpr char kPermuted[] =
    "num_replicas: 1\n"
    "device_assignment {\n"
    "  replica_count: 1\n"
    "  computation_count: 4\n"
    "  computation_devices {\n    replica_device_ids: 3\n  }\n"
    "  computation_devices {\n    replica_device_ids: 0\n  }\n"
    "  computation_devices {\n    replica_device_ids: 2\n  }\n"
    "  computation_devices {\n    replica_device_ids: 1\n  }\n"
    "}\n"
    "num_partitions: 4\nuse_spmd_partitioning: true\n";

std::string With(const std::string& from, const std::string& to) {
  std::string text = kPermuted;
  const size_t at = text.find(from);
  return at == std::string::npos ? "" : text.replace(at, from.size(), to);
}

TEST(HloAssignment, IsReadByPartition) {
  EXPECT_EQ(ParseHloAssignment(kPermuted), (HloAssignment{3, 0, 2, 1}));
}

TEST(HloAssignment, IsAbsentUnlessItIsWholeAndOfOneReplica) {
  for (const std::string& text :
       {std::string(), std::string("num_partitions: 4\n"), std::string("device_assignment {"),
        With("replica_count: 1", "replica_count: 2"), With("  replica_count: 1\n", ""),
        With("computation_count: 4", "computation_count: 5"),
        With("replica_device_ids: 2", "replica_device_ids: 3"),
        With("replica_device_ids: 2", "replica_device_ids: -2"),
        With("replica_device_ids: 2", "replica_device_ids: 2x"),
        With("replica_device_ids: 2", "replica_device_ids: 99999999999999999999"),
        With("replica_device_ids: 2", "replica_device_ids: 2\n    replica_device_ids: 7"),
        With("computation_count: 4", "computation_cont: 4"),
        std::string(kPermuted).substr(0, 150)}) {
    EXPECT_EQ(ParseHloAssignment(text), std::nullopt) << text;
  }
}

TEST(DeviceGroupsOf, ArePartitionsInOtherNumbers) {
  EXPECT_THAT(Plain(DeviceGroupsOf({{0, 1}, {2, 3}}, {3, 0, 2, 1})),
              ElementsAre(ElementsAre(3, 0), ElementsAre(2, 1)));
}

// Groups that leave a partition out, or hold one twice, number something else.
TEST(DeviceGroupsOf, AreEmptyUnlessTheyHoldEveryPartitionOnce) {
  for (const HloGroups& groups :
       {HloGroups{}, HloGroups{{0}}, HloGroups{{0, 1}}, HloGroups{{0, 1}, {1, 2, 3}},
        HloGroups{{0, 1, 2, 3, 4}}, HloGroups{{-1, 0, 1, 2, 3}}, HloGroups{{0}, {1}, {2}, {3}}}) {
    EXPECT_THAT(DeviceGroupsOf(groups, {3, 0, 2, 1}), IsEmpty());
  }
}

TEST(DevicePairsOf, KeepSourceBeforeTarget) {
  EXPECT_THAT(Plain(DevicePairsOf({{0, 1}, {1, 2}, {2, 0}}, {3, 0, 2, 1})),
              ElementsAre(ElementsAre(3, 0), ElementsAre(0, 2), ElementsAre(2, 3)));
  EXPECT_THAT(Plain(DevicePairsOf({{0, 0}, {1, 2}}, {3, 0, 2, 1})), ElementsAre(ElementsAre(0, 2)));
}

TEST(DevicePairsOf, AreEmptyUnlessEachSendsAndReceivesOnce) {
  for (const HloGroups& pairs :
       {HloGroups{}, HloGroups{{0, 1}, {0, 2}}, HloGroups{{0, 2}, {1, 2}}, HloGroups{{0, 4}},
        HloGroups{{-1, 0}}, HloGroups{{0, 1}, {2}}, HloGroups{{0, 1, 2}}}) {
    EXPECT_THAT(DevicePairsOf(pairs, {3, 0, 2, 1}), IsEmpty());
  }
}

}  // namespace
}  // namespace rapideye::classifier

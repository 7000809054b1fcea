// Heads by the groups that the text of a program names, with the numbers of devices permuted, so
// that seats tell nothing of who meets whom.
#include "classifier/wait/group_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye {
namespace {

using classifier::testing::Diagnose;
using classifier::testing::kStep;
using classifier::testing::Scenario;
using classifier::testing::Spot;

// A mesh of 4 x 4 over 4 hosts of 4 chips. Device 4 r + c is in row r and column c; its chip is
// that of seat kSeats[device]. No row or column is a host, a chip of every host, or a stride.
constexpr int kSide = 4;
constexpr int kSeats[] = {7, 11, 2, 1, 6, 4, 10, 15, 3, 0, 13, 14, 5, 9, 8, 12};

const Spot kRows{2, 0x900, "all-reduce.3"};
const Spot kColumns{2, 0xb00, "reduce-scatter.9"};
const Spot kEarlierColumns{2, 0x500, "all-gather.1"};
const Spot kEarlierRows{2, 0x600, "all-gather.2"};

std::vector<DeviceGroup> Rows() {
  std::vector<DeviceGroup> rows(kSide);
  for (int d = 0; d < kSide * kSide; ++d) rows[static_cast<size_t>(d / kSide)].devices.push_back(d);
  return rows;
}

std::vector<DeviceGroup> Columns() {
  std::vector<DeviceGroup> columns(kSide);
  for (int d = 0; d < kSide * kSide; ++d) {
    columns[static_cast<size_t>(d % kSide)].devices.push_back(d);
  }
  return columns;
}

class GroupChain : public testing::Test {
 protected:
  GroupChain() : s_({.slices = 1}) {
    for (int d = 0; d < kSide * kSide; ++d) {
      CoreOf(d).device = d;
      s_.At(0, kSeats[d] / kSide).devices.push_back(d);
    }
    s_.At(0, 0).collectives = {{0, *kRows.hlo, Rows()},
                               {0, *kColumns.hlo, Columns()},
                               {0, *kEarlierColumns.hlo, Columns()},
                               {0, *kEarlierRows.hlo, Rows()}};
    s_.PutSlice(0, 0, kStep, kColumns);
  }

  Core& CoreOf(int device) { return s_.Tensor(0, kSeats[device] / kSide, kSeats[device] % kSide); }
  void Put(int device, const Spot& spot) { s_.Put(CoreOf(device), 0, kStep, spot); }
  void ForgetGroups() {
    for (Snapshot& snapshot : s_.capture.snapshots) snapshot.collectives.clear();
  }
  // The cores of a row, but for one device.
  void PutRowBut(int device, const Spot& spot) {
    for (int column = 0; column < kSide; ++column) {
      const int mate = device / kSide * kSide + column;
      if (mate != device) Put(mate, spot);
    }
  }
  // "BAD_TPU_CHIP/TENSOR_CORE 0.<task>.<chip>".
  static std::string BadChip(int device) {
    return "BAD_TPU_CHIP/TENSOR_CORE 0." + std::to_string(kSeats[device] / kSide) + "." +
           std::to_string(kSeats[device] % kSide);
  }
  bool Says(const std::string& words) {
    const Verdict verdict = Classify(s_.capture);
    return std::any_of(verdict.reasons.begin(), verdict.reasons.end(), [&](const Reason& reason) {
      return reason.text.find(words) != std::string::npos;
    });
  }

  Scenario s_;
};

// Device 6 stands at a collective of its column that all others have passed; its row waits for it
// at the next one, and the rest of the slice further on for that row.
TEST_F(GroupChain, OnlyTheGroupsSingleOutACoreThatStandsAtACollective) {
  Put(6, kEarlierColumns);
  PutRowBut(6, kRows);
  EXPECT_EQ(Diagnose(s_), BadChip(6));
  EXPECT_TRUE(Says("3 of the 4 cores that meet at"));
  const WaitChain chain = Classify(s_.capture).chain;
  const auto mates = std::find_if(chain.groups.begin(), chain.groups.end(),
                                  [](const ChainGroup& group) { return group.members == 4; });
  ASSERT_NE(mates, chain.groups.end());
  EXPECT_EQ(mates->cores, 3);
  EXPECT_EQ(mates->instruction, *kRows.hlo);
  ForgetGroups();
  EXPECT_NE(Diagnose(s_), BadChip(6));
}

TEST_F(GroupChain, WithoutANumberForEveryDeviceNobodyIsNamed) {
  Put(6, kEarlierColumns);
  PutRowBut(6, kRows);
  CoreOf(5).device.reset();
  Snapshot& host = s_.At(0, kSeats[5] / kSide);
  std::erase(host.devices, 5);
  EXPECT_NE(Diagnose(s_), BadChip(6));
}

// Two that claim one device, and two texts that disagree, are no evidence.
TEST_F(GroupChain, WhatTwoWorkersSayDifferentlyIsUnknown) {
  Put(6, kEarlierColumns);
  PutRowBut(6, kRows);
  s_.At(0, 1).collectives = {{0, *kRows.hlo, Columns()}};
  EXPECT_NE(Diagnose(s_), BadChip(6));
  s_.At(0, 1).collectives.clear();
  EXPECT_EQ(Diagnose(s_), BadChip(6));
  s_.At(0, kSeats[0] / kSide == 3 ? 2 : 3).devices.push_back(0);
  EXPECT_NE(Diagnose(s_), BadChip(6));
}

// All of a row at their collective: none of them is missing, so none is singled out.
TEST_F(GroupChain, AGroupThatIsCompleteNamesNobody) {
  for (int column = 0; column < kSide; ++column) Put(4 + column, kEarlierRows);
  EXPECT_EQ(Classify(s_.capture).culprits.size(), 0u);
}

// Devices 0 and 1 are a pair by their group, though their seats cannot be one: 1 may wait for 0.
TEST_F(GroupChain, APairByItsGroupIsNotTwoBadChips) {
  const Spot carries{2, 0x720, "fusion.374"};
  const Spot unknown{2, 0x740, std::nullopt};
  Put(1, carries);
  CoreOf(1).sequencers.front().hlo_waits = HloWaits::kComputeWithCollective;
  Put(0, unknown);
  const std::vector<DeviceGroup> pairs = {{{0, 1}}, {{2, 3}},   {{4, 5}},   {{6, 7}},
                                          {{8, 9}}, {{10, 11}}, {{12, 13}}, {{14, 15}}};
  s_.At(0, 0).collectives.push_back({0, *carries.hlo, pairs});
  EXPECT_TRUE(Says("one may wait for the other"));
  ForgetGroups();
  EXPECT_FALSE(Says("one may wait for the other"));
}

// Device d sends to d + 1, but those of the last row have no part in it.
std::vector<DeviceGroup> Shifts() {
  std::vector<DeviceGroup> pairs;
  for (int d = 0; d + 1 < kSide * (kSide - 1); ++d) pairs.push_back({{d, d + 1}});
  return pairs;
}

// Device 6 stands at a collective of its column that all others have passed; 7 needs its data at a
// permutation, the rest of the row stands at the row's next collective, all others at one of the
// columns.
class PermutationChain : public GroupChain {
 protected:
  PermutationChain() {
    Put(6, kEarlierColumns);
    PutRowBut(6, kRows);
    Put(7, kShift);
    Say(0, Shifts(), true);
  }
  void Say(int task, std::vector<DeviceGroup> groups, std::optional<bool> pairs) {
    s_.At(0, task).collectives.push_back({0, *kShift.hlo, std::move(groups), pairs});
  }
  std::string DiagnoseAndUnsay(int task) {
    std::string verdict = Diagnose(s_);
    s_.At(0, task).collectives.pop_back();
    return verdict;
  }

  const Spot kShift{2, 0x720, "collective-permute-done.4"};
};

TEST_F(PermutationChain, ATargetWaitsForItsSource) {
  EXPECT_EQ(DiagnoseAndUnsay(0), BadChip(6));
  EXPECT_NE(Diagnose(s_), BadChip(6));
}

TEST_F(PermutationChain, AnotherSourceSaysNothing) {
  std::vector<DeviceGroup> others = Shifts();
  std::erase(others, DeviceGroup{{6, 7}});
  s_.At(0, 0).collectives.pop_back();
  Say(0, others, true);
  EXPECT_NE(Diagnose(s_), BadChip(6));
}

// A source that is further on has sent: what its target waits for is not known.
TEST_F(PermutationChain, ASourceThatIsFurtherOnIsNotAwaited) {
  Put(6, {2, 0x730, *kEarlierRows.hlo});
  EXPECT_NE(Diagnose(s_), BadChip(6));
  Put(6, {2, 0x710, *kEarlierRows.hlo});
  EXPECT_EQ(Diagnose(s_), BadChip(6));
}

// Two sources of one target, and a text that says that all meet, are no evidence.
TEST_F(PermutationChain, PairsThatTwoWorkersSayDifferentlyAreUnknown) {
  Say(1, {{{5, 7}}}, true);
  EXPECT_NE(DiagnoseAndUnsay(1), BadChip(6));
  Say(1, {{{6, 7}}}, true);
  EXPECT_EQ(DiagnoseAndUnsay(1), BadChip(6));
  s_.At(0, 0).collectives.back().groups = {{{6, 7}}};
  Say(1, {{{6, 7}}}, std::nullopt);
  EXPECT_NE(DiagnoseAndUnsay(1), BadChip(6));
  EXPECT_EQ(Diagnose(s_), BadChip(6));
}

// Every chip of a host needs the data of some chip of the host before. Whichever it is: a host that
// stands at the permutation waits for the host before it where none of that one has come.
TEST_F(PermutationChain, HostsNeedNoSeatsWhereTheirSourcesAreOneHost) {
  s_.At(0, 0).collectives.clear();
  std::vector<DeviceGroup> pairs;
  for (int task = 0; task + 1 < kSide; ++task) {
    for (size_t chip = 0; chip < kSide; ++chip) {
      pairs.push_back({{s_.At(0, task).devices[chip], s_.At(0, task + 1).devices[chip]}});
    }
  }
  for (Snapshot& snapshot : s_.capture.snapshots) {
    for (Core& core : snapshot.cores) core.device.reset();
  }
  s_.PutSlice(0, 0, kStep, kColumns);
  s_.PutHost(0, 2, 0, kStep, kShift);
  s_.Remove(0, 1);
  EXPECT_FALSE(Says("for a member of its group there"));
  Say(3, pairs, true);
  EXPECT_TRUE(Says("for a member of its group there, a worker of which nothing is known"));
}

// The devices of a host need no seats of their own where all are in one group.
TEST_F(GroupChain, AWholeHostThatWaitsForASilentOneIsNoHead) {
  for (Snapshot& snapshot : s_.capture.snapshots) {
    for (Core& core : snapshot.cores) core.device.reset();
  }
  const auto& first = s_.At(0, 0).devices;
  const auto& silent = s_.At(0, 3).devices;
  DeviceGroup both{first};
  both.devices.insert(both.devices.end(), silent.begin(), silent.end());
  DeviceGroup rest{s_.At(0, 1).devices};
  const auto& other = s_.At(0, 2).devices;
  rest.devices.insert(rest.devices.end(), other.begin(), other.end());
  s_.At(0, 1).collectives = {{0, *kRows.hlo, {both, rest}}};
  s_.At(0, 0).collectives.clear();
  s_.PutHost(0, 0, 0, kStep, kRows);
  s_.Remove(0, 3);
  EXPECT_TRUE(Says("for a member of its group there, a worker of which nothing is known"));
}

}  // namespace
}  // namespace rapideye

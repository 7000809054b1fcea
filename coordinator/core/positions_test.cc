#include "coordinator/core/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Snapshot At(int task, int64_t pc, int32_t launch_id = 5) {
  Snapshot snapshot;
  snapshot.worker = {0, task};
  snapshot.incarnation = "p";
  snapshot.runtime.state = RuntimeState::kServing;
  snapshot.programs = {{.module = std::nullopt, .fingerprint = "aa"},
                       {.module = std::nullopt, .fingerprint = "bb"}};
  Core core;
  core.chip = 0;
  core.type = CoreType::kTensorCore;
  core.program = 0;
  core.launch_id = launch_id;
  core.stuck_ms = 10'000;
  Sequencer sequencer;
  sequencer.type = SequencerType::kTensorCoreSequencer;
  sequencer.pc = pc;
  sequencer.tag = 3;
  core.sequencers.push_back(sequencer);
  snapshot.cores.push_back(core);
  return snapshot;
}

TEST(LaunchesOfRound, StandingStillIsNoCompletion) {
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).CompletedBy(At(0, 0x40)));
}

TEST(LaunchesOfRound, MovingPcIsNoCompletion) {
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).CompletedBy(At(0, 0x48)));
}

TEST(LaunchesOfRound, NextLaunchIsACompletion) {
  EXPECT_TRUE(LaunchesOfRound(At(0, 0x40, 5)).CompletedBy(At(0, 0x40, 6)));
}

TEST(LaunchesOfRound, AnotherProgramIsACompletion) {
  Snapshot later = At(0, 0x40);
  later.cores[0].program = 1;
  EXPECT_TRUE(LaunchesOfRound(At(0, 0x40)).CompletedBy(later));
}

TEST(LaunchesOfRound, CoreThatHasBecomeIdleHasCompleted) {
  EXPECT_TRUE(LaunchesOfRound(At(0, 0x40)).CompletedBy(At(0, 0)));
}

TEST(LaunchesOfRound, LaunchThatBeganIsNoCompletion) {
  EXPECT_FALSE(LaunchesOfRound(At(0, 0)).CompletedBy(At(0, 0x40)));
}

TEST(LaunchesOfRound, RuntimeThatDiedHasCompletedNothing) {
  Snapshot later = At(0, 0);
  later.runtime.state = RuntimeState::kUnavailable;
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).CompletedBy(later));
}

TEST(LaunchesOfRound, IsReplacedByAnotherProcessAlone) {
  Snapshot later = At(0, 0x40);
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).ReplacedBy(later));
  later.incarnation = "q";
  EXPECT_TRUE(LaunchesOfRound(At(0, 0x40)).ReplacedBy(later));
  later.incarnation.reset();  // not known is not another
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).ReplacedBy(later));
}

TEST(LaunchesOfRound, IsReplacedByAProcessOfAnotherNumber) {
  Snapshot before = At(0, 0x40);
  before.processes.resize(1);
  before.processes[0].pid = 11;
  Snapshot later = At(0, 0x40);
  later.processes.resize(2);
  later.processes[0].pid = 12;
  later.processes[1].pid = 11;
  EXPECT_FALSE(LaunchesOfRound(before).ReplacedBy(later));
  later.processes.pop_back();
  EXPECT_TRUE(LaunchesOfRound(before).ReplacedBy(later));
  later.processes.clear();  // gone is not another
  EXPECT_FALSE(LaunchesOfRound(before).ReplacedBy(later));
}

TEST(LaunchesOfRound, AnotherProcessHasCompletedNothing) {
  Snapshot later = At(0, 0x40, 1);
  later.incarnation = "q";
  EXPECT_FALSE(LaunchesOfRound(At(0, 0x40)).CompletedBy(later));
}

TEST(LaunchesOfRound, WithoutLaunchIdsTheAgeTells) {
  Snapshot before = At(0, 0x40);
  Snapshot later = At(0, 0x40);
  before.cores[0].launch_id.reset();
  later.cores[0].launch_id.reset();
  later.cores[0].stuck_ms = 10'600;
  EXPECT_FALSE(LaunchesOfRound(before).CompletedBy(later));
  later.cores[0].stuck_ms = 200;
  EXPECT_TRUE(LaunchesOfRound(before).CompletedBy(later));
}

std::map<WorkerId, Snapshot> Standing(const std::vector<int64_t>& pcs) {
  std::map<WorkerId, Snapshot> snapshots;
  for (size_t task = 0; task < pcs.size(); ++task) {
    snapshots[{0, static_cast<int>(task)}] = At(static_cast<int>(task), pcs[task]);
  }
  return snapshots;
}

TEST(ChooseForHlo, OneWorkerPerPositionRarestFirst) {
  EXPECT_THAT(ChooseForHlo(Standing({1, 1, 1, 2, 2, 3}), 32),
              ElementsAre(WorkerId{0, 5}, WorkerId{0, 3}, WorkerId{0, 0}));
}

TEST(ChooseForHlo, AtMostTheLimit) {
  EXPECT_THAT(ChooseForHlo(Standing({1, 1, 1, 2, 2, 3}), 2),
              ElementsAre(WorkerId{0, 5}, WorkerId{0, 3}));
}

TEST(ChooseForHlo, IdleCoresHaveNoPosition) {
  EXPECT_THAT(ChooseForHlo(Standing({0, 0}), 32), IsEmpty());
}

TEST(ChooseForHlo, KnownHloNeedsNobody) {
  std::map<WorkerId, Snapshot> snapshots = Standing({1, 1, 2});
  snapshots[{0, 1}].cores[0].sequencers[0].hlo = "fusion.1";
  EXPECT_THAT(ChooseForHlo(snapshots, 32), ElementsAre(WorkerId{0, 2}));
}

TEST(ChooseForHlo, SilentRuntimeIsNotAsked) {
  std::map<WorkerId, Snapshot> snapshots = Standing({1, 1});
  snapshots[{0, 0}].runtime.state = RuntimeState::kTimedOut;
  EXPECT_THAT(ChooseForHlo(snapshots, 32), ElementsAre(WorkerId{0, 1}));
}

TEST(ChooseForHlo, OneAnswerCoversAllPositionsOfAWorker) {
  std::map<WorkerId, Snapshot> snapshots = Standing({1, 1});
  Core second = snapshots[{0, 0}].cores[0];
  second.chip = 1;
  second.sequencers[0].pc = 9;
  snapshots[{0, 0}].cores.push_back(second);
  EXPECT_THAT(ChooseForHlo(snapshots, 32), ElementsAre(WorkerId{0, 0}));
}

TEST(MergeHlo, AddsTheInstructionWhereTheSequencerStillStands) {
  Snapshot answer = At(0, 0x40);
  answer.cores[0].sequencers[0].hlo = "all-reduce.3";
  answer.cores[0].sequencers[0].hlo_text = "HLO: all-reduce.3";
  Snapshot same = At(0, 0x40);
  MergeHlo(answer, same);
  EXPECT_EQ(same.cores[0].sequencers[0].hlo, "all-reduce.3");
  EXPECT_EQ(same.cores[0].sequencers[0].hlo_text, "HLO: all-reduce.3");
  Snapshot moved = At(0, 0x48);
  MergeHlo(answer, moved);
  EXPECT_FALSE(moved.cores[0].sequencers[0].hlo.has_value());
  Snapshot next = At(0, 0x40, 6);
  MergeHlo(answer, next);
  EXPECT_FALSE(next.cores[0].sequencers[0].hlo.has_value());
}

// The snapshot holds the groups of its own devices, the answer all of them, by another table of
// programs.
TEST(MergeHlo, TakesTheGroupsOfItsCollectives) {
  Snapshot answer = At(0, 0x40);
  const Program own = answer.programs[0];
  answer.programs.insert(answer.programs.begin(), Program{std::nullopt, "0123"});
  answer.cores[0].program = 1;
  answer.collectives = {{1, "all-reduce.3", {{{0, 1}}, {{2, 3}}}, true}, {0, "psum.1", {{{0, 1}}}}};
  Snapshot snapshot = At(0, 0x40);
  ASSERT_EQ(snapshot.programs[0], own);
  snapshot.collectives = {{0, "all-reduce.3", {{{0, 1}}}}};
  MergeHlo(answer, snapshot);
  EXPECT_THAT(snapshot.collectives,
              ElementsAre(Collective{0, "all-reduce.3", {{{0, 1}}, {{2, 3}}}, true}));
  Snapshot bare = At(0, 0x40);
  MergeHlo(answer, bare);
  EXPECT_EQ(bare.collectives, snapshot.collectives);
}

}  // namespace
}  // namespace rapideye::coordinator

#include "agent/core/launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "agent/core/limits.h"
#include "tests/support/sample_builder.h"

namespace rapideye::agent {
namespace {

RuntimeSample At(int32_t core, int64_t pc) {
  RuntimeSample sample;
  sample.cores.emplace_back().id = core;
  sample.cores.back().sequencers.emplace_back().pc = pc;
  return sample;
}

TEST(Transitions, TellsWhenACoreCameToWhereItStands) {
  Transitions transitions;
  transitions.Observe(At(3, 10), absl::Seconds(1));
  transitions.Observe(At(3, 20), absl::Seconds(6));
  transitions.Observe(At(3, 20), absl::Seconds(11));
  const Transitions::Ring* ring = transitions.Of(3);
  ASSERT_NE(ring, nullptr);
  ASSERT_EQ(ring->size(), 2U);
  EXPECT_EQ(ring->front().before, std::nullopt);  // nobody saw what was there before
  EXPECT_EQ(ring->back().seen, absl::Seconds(6));
  EXPECT_EQ(ring->back().before, absl::Seconds(1));
  EXPECT_EQ(ring->back().pc, 20);
}

TEST(Transitions, AnotherLaunchAtTheSamePlaceIsAChange) {
  Transitions transitions;
  RuntimeSample sample = At(3, 10);
  transitions.Observe(sample, absl::Seconds(1));
  sample.cores[0].launch_id = 8;
  transitions.Observe(sample, absl::Seconds(2));
  EXPECT_EQ(transitions.Of(3)->size(), 2U);
}

TEST(Transitions, TheOldestMakeRoom) {
  Transitions transitions;
  for (size_t i = 0; i < kMaxTransitionsPerCore + 3; ++i) {
    transitions.Observe(At(3, static_cast<int64_t>(i)), absl::Seconds(i));
  }
  EXPECT_EQ(transitions.Of(3)->size(), kMaxTransitionsPerCore);
  EXPECT_EQ(transitions.Of(3)->front().pc, 3);
}

TEST(Transitions, CoresThatAreGoneAreForgotten) {
  Transitions transitions;
  transitions.Observe(At(3, 10), absl::Seconds(1));
  transitions.Observe(At(4, 10), absl::Seconds(2));
  EXPECT_EQ(transitions.Of(3), nullptr);
  EXPECT_NE(transitions.Of(4), nullptr);
  transitions.Clear();
  EXPECT_EQ(transitions.Of(4), nullptr);
}

constexpr absl::Duration At(int seconds) { return absl::Seconds(seconds); }
constexpr SequencerKey kFirstSequencer{0, SequencerType::kTensorCoreSequencer, 0};

TEST(PositionAgesTest, StandsStillSinceTheLastChangeOfAnyPart) {
  using Change = void (*)(CoreSample&);
  const Change changes[] = {
      [](CoreSample& core) { core.sequencers[0].pc = 6; },
      [](CoreSample& core) { core.sequencers[0].tag = 2; },
      [](CoreSample& core) { core.sequencers[0].tracemark = 2; },
      [](CoreSample& core) { core.sequencers[0].run_id = 2; },
      [](CoreSample& core) { core.launch_id = 11; },
      [](CoreSample& core) { core.fingerprint = "bb"; },
      [](CoreSample& core) { core.sequencers[0].pc.reset(); },
  };
  for (const Change change : changes) {
    CoreSample core = Running(0, "aa", 10, 5);
    PositionAges position_ages;
    position_ages.Observe({{}, {core}}, At(0));
    position_ages.Observe({{}, {core}}, At(5));
    EXPECT_EQ(position_ages.StillSince(kFirstSequencer), At(0));
    change(core);
    position_ages.Observe({{}, {core}}, At(10));
    EXPECT_EQ(position_ages.StillSince(kFirstSequencer), At(10));
  }
}

TEST(PositionAgesTest, WhatIsNoLongerReportedIsForgotten) {
  PositionAges position_ages;
  position_ages.Observe({{}, {Running(0, "aa", 10, 5)}}, At(0));
  position_ages.Observe({{}, {Running(1, "aa", 10, 5)}}, At(5));
  EXPECT_EQ(position_ages.StillSince(kFirstSequencer), std::nullopt);
  position_ages.Observe({{}, {Running(0, "aa", 10, 5)}}, At(10));
  EXPECT_EQ(position_ages.StillSince(kFirstSequencer), At(10));
}

TEST(PositionAgesTest, RemembersHloWhileTheInstructionIsTheSame) {
  PositionAges position_ages;
  CoreSample core = Running(0, "aa", 10, 5);
  position_ages.Observe({{}, {WithHlo(core, "all-reduce.3", "jit_step")}}, At(0));
  core.sequencers[0].tracemark = 77;
  position_ages.Observe({{}, {core}}, At(5));
  ASSERT_NE(position_ages.HloOf(kFirstSequencer), nullptr);
  EXPECT_EQ(position_ages.HloOf(kFirstSequencer)->instruction, "all-reduce.3");
  core.sequencers[0].pc = 6;
  position_ages.Observe({{}, {core}}, At(10));
  EXPECT_EQ(position_ages.HloOf(kFirstSequencer), nullptr);
}

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LaunchTrackerTest, TheSameLaunchIsNoChange) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  const LaunchChange change = tracker.Observe(Running(0, "aa", 10, 99), At(5));
  EXPECT_THAT(change.completions, IsEmpty());
  EXPECT_FALSE(change.began);
  EXPECT_EQ(tracker.last_completion(), At(0));
}

TEST(LaunchTrackerTest, CountsLaunchesThatCameAndWentUnseen) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  const LaunchChange change = tracker.Observe(Running(0, "aa", 35, 5), At(5));
  ASSERT_THAT(change.completions, SizeIs(1));
  EXPECT_EQ(change.completions[0].total, 25);
  EXPECT_TRUE(change.began);
  EXPECT_EQ(tracker.completed(), 25);
  EXPECT_EQ(tracker.last_completion(), At(5));
  // 25 launches in 5 s: the one that was seen took about 200 ms.
  EXPECT_EQ(change.completions[0].longest, absl::Milliseconds(200));
}

TEST(LaunchTrackerTest, ALaunchSeenForLongTookAtLeastThatLong) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  tracker.Observe(Running(0, "aa", 10, 6), At(5));
  tracker.Observe(Running(0, "aa", 10, 7), At(10));
  const LaunchChange change = tracker.Observe(Running(0, "aa", 11, 7), At(15));
  ASSERT_THAT(change.completions, SizeIs(1));
  EXPECT_EQ(change.completions[0].longest, absl::Seconds(15));
}

TEST(LaunchTrackerTest, AnotherProgramOrNoneCompletesTheLaunch) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  EXPECT_THAT(tracker.Observe(Running(0, "bb", -7, 5), At(5)).completions, SizeIs(1));
  EXPECT_THAT(tracker.Observe(Idle(0), At(10)).completions, SizeIs(1));
  EXPECT_FALSE(tracker.in_launch());
  EXPECT_EQ(tracker.completed(), 2);
  EXPECT_THAT(tracker.Observe(Idle(0), At(15)).completions, IsEmpty());
  EXPECT_EQ(tracker.last_completion(), At(10));
}

TEST(LaunchTrackerTest, AnIdleCoreMayNameWhatRanLast) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  tracker.Observe(Running(0, "aa", 10, 0), At(5));
  EXPECT_EQ(tracker.completed(), 1);
  // The same sample again, and later one that names what ran meanwhile.
  EXPECT_FALSE(tracker.Observe(Running(0, "aa", 10, 0), At(10)).counters_restarted);
  EXPECT_EQ(tracker.completed(), 1);
  tracker.Observe(Running(0, "aa", 12, 0), At(15));
  EXPECT_EQ(tracker.completed(), 3);
}

TEST(LaunchTrackerTest, CountersWrap) {
  LaunchTracker tracker(Running(0, "aa", std::numeric_limits<int32_t>::max(), 5), At(0));
  const LaunchChange change =
      tracker.Observe(Running(0, "aa", std::numeric_limits<int32_t>::min() + 1, 5), At(5));
  EXPECT_FALSE(change.counters_restarted);
  EXPECT_EQ(tracker.completed(), 2);
}

TEST(LaunchTrackerTest, ACounterThatGoesBackOrLeapsIsAnotherProcess) {
  LaunchTracker back(Running(0, "aa", 10, 5), At(0));
  EXPECT_TRUE(back.Observe(Running(0, "aa", 9, 5), At(5)).counters_restarted);
  LaunchTracker leap(Running(0, "aa", 10, 5), At(0));
  EXPECT_TRUE(leap.Observe(Running(0, "aa", 900'000'000, 5), At(5)).counters_restarted);
  // A counter may advance as far as it can have come in that time.
  LaunchTracker fast(Running(0, "aa", 10, 5), At(0));
  EXPECT_FALSE(
      fast.Observe(Running(0, "aa", 10 + 5 * kMaxLaunchesPerSecond, 5), At(5)).counters_restarted);
}

TEST(LaunchTrackerTest, WithoutLaunchIdsRunIdsTellLaunchesApart) {
  CoreSample core = Running(0, "aa", 0, 5);
  core.launch_id.reset();
  core.sequencers[0].run_id = 1;
  LaunchTracker tracker(core, At(0));
  EXPECT_THAT(tracker.Observe(core, At(5)).completions, IsEmpty());
  core.sequencers[0].run_id = 2;
  EXPECT_THAT(tracker.Observe(core, At(10)).completions, SizeIs(1));
}

TEST(LaunchTrackerTest, AHaltedCoreCompletesNothing) {
  LaunchTracker tracker(Running(0, "aa", 10, 5), At(0));
  CoreSample halted = Idle(0);
  halted.error = "Core halted unexpectedly";
  EXPECT_THAT(tracker.Observe(halted, At(5)).completions, IsEmpty());
  EXPECT_TRUE(tracker.in_launch());
  EXPECT_THAT(tracker.Observe(Idle(0), At(10)).completions, SizeIs(1));
}

TEST(LaunchTrackerTest, RemembersABoundedNumberOfPrograms) {
  LaunchTracker tracker(Idle(0), At(0));
  constexpr int kPrograms = 10 * static_cast<int>(kMaxPrograms);
  for (int i = 0; i < kPrograms; ++i) {
    tracker.Observe(Running(0, std::to_string(i), 1, 5), At(i));
  }
  // All launches but the last, which still runs.
  EXPECT_EQ(tracker.completed(), kPrograms - 1);
}

}  // namespace
}  // namespace rapideye::agent

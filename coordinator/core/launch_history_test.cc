#include "coordinator/core/launch_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProgramNumber kA = 0;
constexpr ProgramNumber kB = 1;
constexpr ProgramNumber kC = 2;

TEST(LaunchHistory, QueueOfOneProgram) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kA, 6}});
  EXPECT_THAT(history.Step({{kA, 9}}), ElementsAre(Launch{kA, 6}));
}

TEST(LaunchHistory, TwoProgramsFromOneQueue) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kB, 17}, {kA, 6}});
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}}), ElementsAre(Launch{kA, 6}, Launch{kB, 18}));
}

TEST(LaunchHistory, OverlappingQueuesAreJoined) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kB, 17}});
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}}), IsEmpty());
  history.Append({{kB, 17}, {kA, 6}});
  EXPECT_EQ(history.launches().size(), 3u);
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}}), ElementsAre(Launch{kA, 6}, Launch{kB, 18}));
}

TEST(LaunchHistory, QueuesWithAGapAreNotJoined) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kB, 17}});
  history.Append({{kA, 8}, {kB, 20}});
  EXPECT_EQ(history.launches().size(), 2u);
}

TEST(LaunchHistory, AllWorkersStateTheSameBeginning) {
  LaunchHistory history;
  history.Append({{kB, 17}, {kC, 3}, {kA, 6}, {kB, 18}});
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}, {kC, 9}}),
              ElementsAre(Launch{kA, 6}, Launch{kB, 18}, Launch{kC, 4}));
}

TEST(LaunchHistory, ProgramThatRunsSeveralTimesInAStep) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kA, 6}, {kB, 17}, {kA, 7}, {kA, 8}, {kB, 18}});
  EXPECT_THAT(history.Step({{kA, 20}, {kB, 10}}),
              ElementsAre(Launch{kA, 7}, Launch{kA, 8}, Launch{kB, 18}));
}

TEST(LaunchHistory, CycleThatLeavesOutASteadyProgramIsNoStep) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kB, 17}, {kA, 6}});  // part of A B A C
  EXPECT_THAT(history.Step({{kA, 20}, {kB, 10}, {kC, 10}}), IsEmpty());
  // A program that ran once, at the start, is no part of the step.
  EXPECT_FALSE(history.Step({{kA, 20}, {kB, 20}, {kC, 1}}).empty());
}

TEST(LaunchHistory, LaunchIdsThatDoNotFitAreNoCycle) {
  LaunchHistory history;
  history.Append({{kA, 5}, {kB, 17}, {kA, 7}});
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}}), IsEmpty());
}

TEST(LaunchHistory, LaunchIdsWrap) {
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  constexpr int32_t kFirst = std::numeric_limits<int32_t>::min();
  LaunchHistory history;
  history.Append({{kB, kLast}, {kA, 5}, {kB, kFirst}});
  EXPECT_THAT(history.Step({{kA, 9}, {kB, 9}}), ElementsAre(Launch{kA, 5}, Launch{kB, kFirst}));
}

TEST(LaunchHistory, IsBounded) {
  LaunchHistory history;
  for (int32_t i = 0; i < 1000; ++i) history.Append({{kA, i}, {kA, i + 1}});
  EXPECT_EQ(history.launches().size(), kMaxLaunchHistory);
  EXPECT_EQ(history.launches().back().id, 1000);
}

}  // namespace
}  // namespace rapideye::coordinator

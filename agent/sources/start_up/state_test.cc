#include "agent/sources/start_up/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration At(int seconds) { return absl::Seconds(seconds); }

void Observe(StartUpState& state, const StartUpReading& reading, int seconds,
             bool launched = false) {
  Notices notices;
  state.Observe(reading, {.ever_launched = launched}, At(seconds), notices);
}

TEST(StartUpStateTest, PhasesAreKeptFromWhenTheyWereReached) {
  StartUpState state;
  EXPECT_FALSE(state.Now(At(1)).has_value());
  Observe(state, {.process = true}, 10);
  Observe(state, {.process = true, .device = true}, 20);
  Observe(state, {.process = true, .device = false}, 25);
  state.Compiles(At(30));
  Observe(state, {.process = true}, 35, /*launched=*/true);
  const auto start_up = state.Now(At(40));
  ASSERT_TRUE(start_up.has_value());
  EXPECT_EQ(start_up->process_ms, 30'000);
  EXPECT_EQ(start_up->device_ms, 20'000);
  EXPECT_FALSE(start_up->coordination_ms.has_value());
  EXPECT_EQ(start_up->compilation_ms, 10'000);
  EXPECT_EQ(start_up->launch_ms, 5'000);
}

TEST(StartUpStateTest, EndsWithTheFirstCompletionAndBeginsWithAnotherProcess) {
  StartUpState state;
  Observe(state, {.process = true}, 10);
  state.Complete();
  EXPECT_FALSE(state.Now(At(20)).has_value());
  state.ProcessReplaced(At(30));
  const auto start_up = state.Now(At(40));
  ASSERT_TRUE(start_up.has_value());
  EXPECT_FALSE(start_up->process_ms.has_value());
}

TEST(StartUpStateTest, ObstaclesStayUntilTheyAreSearchedAgainAndGrowOlder) {
  StartUpState state;
  Obstacle held;
  held.kind = ObstacleKind::kDeviceHeld;
  held.subject = "vfio/0";
  held.holder = Process{.pid = 7, .started_ms_ago = 1'000};
  Observe(state, {.process = true, .obstacles = {{held}}}, 10);
  Observe(state, {.process = true}, 15);
  ASSERT_THAT(state.Now(At(20))->obstacles, SizeIs(1));
  EXPECT_EQ(state.Now(At(20))->obstacles[0].holder->started_ms_ago, 11'000);
  Observe(state, {.process = true, .obstacles = std::vector<Obstacle>()}, 25);
  EXPECT_THAT(state.Now(At(30))->obstacles, IsEmpty());
}

TEST(StartUpStateTest, SettingsAreOfTheProcessThatLives) {
  StartUpState state;
  Setting setting;
  setting.name = "JAX_PLATFORMS";
  Observe(state, {.process = true, .settings = {{setting}}}, 10);
  Snapshot snapshot;
  state.AddTo(snapshot, {.monotonic = At(11), .wall = absl::UnixEpoch()});
  EXPECT_THAT(snapshot.settings, SizeIs(1));
  state.ProcessReplaced(At(12));
  state.AddTo(snapshot, {.monotonic = At(13), .wall = absl::UnixEpoch()});
  EXPECT_THAT(snapshot.settings, IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

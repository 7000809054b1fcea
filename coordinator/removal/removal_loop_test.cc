#include "coordinator/removal/removal_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "tests/fleet/remover_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RemovalLoopTest : public RemoverFixture {
 protected:
  RemovalLoop::Settings LoopSettings(RemovalMode mode) {
    RemovalLoop::Settings settings;
    settings.fleet_db = made_.url();
    settings.policy.mode = mode;
    settings.hooks = {"/hooks/drain"};
    settings.hook_timeout = absl::Minutes(1);
    return settings;
  }
  // Records the incident at the real time, which is the loop's.
  void FailNow() {
    now_ = database_->WallClock().value();
    Fail("a", 4);
  }
  size_t Undecided(RemovalMode mode) {
    return history_.Undecided(mode, now_ - absl::Hours(1), 100).value().size();
  }
};

INSTANTIATE_TEST_SUITE_P(Each, RemovalLoopTest, BothDatabases());

TEST_P(RemovalLoopTest, DecidesInADryRunAndRunsNothing) {
  FailNow();
  RemovalLoop loop(LoopSettings(RemovalMode::kDryRun), hooks_);
  ASSERT_TRUE(loop.Turn().ok());
  EXPECT_EQ(Undecided(RemovalMode::kDryRun), 0U);
  EXPECT_EQ(Undecided(RemovalMode::kEnforce), 4U);
  EXPECT_THAT(hooks_.calls(), IsEmpty());
}

TEST_P(RemovalLoopTest, RunsTheHooksOfWhatIsEnforced) {
  FailNow();
  RemovalLoop loop(LoopSettings(RemovalMode::kEnforce), hooks_);
  ASSERT_TRUE(loop.Turn().ok());
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
  ASSERT_TRUE(loop.Turn().ok());
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

TEST_P(RemovalLoopTest, StatesTheBreakerOfItsMode) {
  FailNow();
  RemovalLoop loop(LoopSettings(RemovalMode::kEnforce), hooks_);
  EXPECT_EQ(loop.Turn().value().breaker_open, false);
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, true, "too many", "", now_).ok());
  EXPECT_EQ(loop.Turn().value().breaker_open, true);
  RemovalLoop dry(LoopSettings(RemovalMode::kDryRun), hooks_);
  EXPECT_EQ(dry.Turn().value().breaker_open, false);
  RemovalLoop off(LoopSettings(RemovalMode::kOff), hooks_);
  EXPECT_EQ(off.Turn().value().breaker_open, std::nullopt);
}

TEST_P(RemovalLoopTest, DecidesNothingWhenItIsOff) {
  FailNow();
  RemovalLoop loop(LoopSettings(RemovalMode::kOff), hooks_);
  ASSERT_TRUE(loop.Turn().ok());
  EXPECT_EQ(Undecided(RemovalMode::kOff), 4U);
}

// An operator forgot a machine on a host whose clock was twelve years ahead.
TEST_P(RemovalLoopTest, AClockThatWasWrongOnceEndsNoDecisions) {
  const absl::Time wrong = now_ + absl::Hours(24 * 365 * 12);
  ASSERT_TRUE(history_.Forget("hardware:other", "ada", wrong).ok());
  ASSERT_TRUE(history_.Forget("hardware:a", "ada", wrong).ok());
  FailNow();
  RemovalLoop loop(LoopSettings(RemovalMode::kEnforce), hooks_);
  const auto report = loop.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->decisions, SizeIs(4));
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
  EXPECT_EQ(*history_.CountAfter(now_ + kDay), 2);
  EXPECT_LT(*history_.Newest(now_ + kDay), now_ + kDay);
}

TEST_P(RemovalLoopTest, LeavesOtherJobsAlone) {
  FailNow();
  RemovalLoop::Settings settings = LoopSettings(RemovalMode::kEnforce);
  settings.job = "gemma";
  RemovalLoop loop(std::move(settings), hooks_);
  ASSERT_TRUE(loop.Turn().ok());
  EXPECT_EQ(Undecided(RemovalMode::kEnforce), 4U);
}

TEST_P(RemovalLoopTest, WorksWheneverItIsWokenUntilItIsStopped) {
  RemovalLoop::Settings settings = LoopSettings(RemovalMode::kEnforce);
  settings.poll = absl::InfiniteDuration();
  std::promise<void> first;
  std::promise<void> second;
  int turns = 0;
  settings.after_turn = [&](Database* history, const absl::StatusOr<Remover::Report>& turn) {
    EXPECT_NE(history, nullptr);
    EXPECT_TRUE(turn.ok()) << turn.status();
    ++turns;
    if (turns == 1) first.set_value();
    if (turns == 2) second.set_value();
    return absl::InfiniteDuration();
  };
  RemovalLoop loop(std::move(settings), hooks_);
  std::thread thread([&] { loop.Run(); });
  first.get_future().wait();
  FailNow();
  loop.Wake();
  second.get_future().wait();
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
  loop.Stop();
  thread.join();
}

TEST(RemovalLoopWithoutHistoryTest, GoesOnOnceTheHistoryIsThere) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / "removal-loop-history";
  std::filesystem::remove_all(directory);
  RecordingHooks hooks;
  RemovalLoop::Settings settings;
  settings.fleet_db = "sqlite:" + (directory / "fleet.db").string();
  settings.hook_timeout = absl::Minutes(1);
  RemovalLoop loop(std::move(settings), hooks);
  EXPECT_FALSE(loop.Turn().ok());
  std::filesystem::create_directory(directory);
  EXPECT_TRUE(loop.Turn().ok());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace rapideye::coordinator

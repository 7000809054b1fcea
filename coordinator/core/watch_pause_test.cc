#include "coordinator/core/watch_pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class WatchPauseTest : public testing::Test {
 protected:
  absl::Status Pause(absl::Duration duration, const std::string& reason = "a debugger") {
    job_.Step(PauseRequested{.ticket = 7, .duration = duration, .reason = reason, .by = "ann"});
    EXPECT_EQ(job_.pauses().back().ticket, 7);
    return job_.pauses().back().status;
  }
  JobStatus Status() {
    job_.Step(StatusRequested{1});
    return job_.statuses().back().status;
  }
  void RunHealthy() { job_.Run(absl::Seconds(20)); }

  FakeJob job_{Quick(), 2, 2};
};

TEST_F(WatchPauseTest, NothingIsRaisedUntilItEnds) {
  RunHealthy();
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  job_.Freeze();
  job_.Run(absl::Minutes(59));
  EXPECT_THAT(job_.concluded(), SizeIs(0));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  // The pause is over, and the job still stands: a hang like any other.
  ASSERT_TRUE(job_.RunUntilConclude(absl::Minutes(2)));
}

TEST_F(WatchPauseTest, WhatItLastedIsNoStandstill) {
  RunHealthy();
  ASSERT_TRUE(Pause(absl::Minutes(10)).ok());
  job_.Freeze();
  job_.Run(absl::Minutes(10) + absl::Milliseconds(1500));
  EXPECT_TRUE(job_.Logged("its time is over"));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  job_.Thaw();
  const absl::Duration longest = Status().longest_launch;
  RunHealthy();
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  EXPECT_EQ(Status().longest_launch, longest);
}

TEST_F(WatchPauseTest, AnAlarmMeanwhileIsNotFollowed) {
  RunHealthy();
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  job_.Say(job_.at(0, 1), wire::Alarm{.kind = wire::AlarmKind::kProcessExit, .text = "killed"});
  job_.Run(absl::Minutes(1));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  EXPECT_EQ(job_.core().counters().alarms, 1);
}

TEST_F(WatchPauseTest, ACollectionThatHadBegunIsAbandoned) {
  RunHealthy();
  job_.at(0, 1).answers = false;
  job_.Freeze();
  while (job_.core().counters().suspicions == 0) job_.Run(absl::Seconds(1));
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  job_.Run(absl::Minutes(5));
  EXPECT_THAT(job_.concluded(), SizeIs(0));
  EXPECT_TRUE(job_.Logged("the watch was paused"));
}

TEST_F(WatchPauseTest, ADigestThatIsOutStays) {
  RunHealthy();
  job_.Freeze();
  ASSERT_TRUE(job_.RunUntilConclude(absl::Minutes(1)));
  job_.Step(IncidentConcluded{
      .incident_id = job_.concluded()[0].incident_id, .hang = true, .unknown = true});
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  EXPECT_EQ(Status().activity, Activity::kWaiting);
  job_.Run(absl::Minutes(50));
  EXPECT_THAT(job_.concluded(), SizeIs(1));  // no further look meanwhile
  job_.Run(absl::Minutes(15));
  EXPECT_THAT(job_.concluded(), SizeIs(2));
}

TEST_F(WatchPauseTest, IsShownAndMayBeEndedBeforeItsTime) {
  RunHealthy();
  EXPECT_EQ(Status().pause, std::nullopt);
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  job_.Run(absl::Minutes(10));
  ASSERT_TRUE(Status().pause.has_value());
  EXPECT_EQ(Status().pause->left, absl::Minutes(50));
  EXPECT_EQ(Status().pause->reason, "a debugger");
  EXPECT_EQ(Status().pause->by, "ann");
  ASSERT_TRUE(Pause(absl::Minutes(5), "another").ok());  // replaces it
  EXPECT_EQ(Status().pause->left, absl::Minutes(5));
  ASSERT_TRUE(Pause(absl::ZeroDuration()).ok());
  EXPECT_EQ(Status().pause, std::nullopt);
  EXPECT_EQ(Pause(absl::ZeroDuration()).code(), absl::StatusCode::kFailedPrecondition);
  job_.Freeze();
  EXPECT_TRUE(job_.RunUntilConclude(absl::Minutes(2)));
}

TEST_F(WatchPauseTest, IsBoundedAndHasAReason) {
  EXPECT_EQ(Pause(kLongestWatchPause + absl::Seconds(1)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Pause(-absl::Seconds(1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Pause(absl::Hours(1), " \t").message()), HasSubstr("reason"));
  ASSERT_TRUE(Pause(kLongestWatchPause, std::string(100'000, 'x') + "\n\x1b").ok());
  EXPECT_LT(Status().pause->reason.size(), 2000u);
  EXPECT_EQ(Status().pause->reason.find('\n'), std::string::npos);
}

TEST_F(WatchPauseTest, OutlivesTheCoordinator) {
  RunHealthy();
  ASSERT_TRUE(Pause(absl::Hours(1)).ok());
  ASSERT_TRUE(job_.kept_pause().has_value());
  job_.RestartCoordinator();
  job_.Step(IncidentsOnDisk{.ids = {}, .pause = job_.kept_pause()});
  job_.ConnectAll();
  RunHealthy();
  job_.Freeze();
  job_.Run(absl::Minutes(55));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  EXPECT_TRUE(Status().pause.has_value());
  EXPECT_TRUE(job_.RunUntilConclude(absl::Minutes(40)));
  EXPECT_EQ(job_.kept_pause(), std::nullopt);
}

TEST_F(WatchPauseTest, OneThatIsOverIsNotTakenUp) {
  job_.RestartCoordinator();
  job_.Step(IncidentsOnDisk{
      .ids = {}, .pause = KeptPause{.until = job_.now().wall, .reason = "r", .by = "b"}});
  EXPECT_EQ(Status().pause, std::nullopt);
}

// A clock was wrong, or another program wrote the file: each restart would begin the pause anew.
TEST_F(WatchPauseTest, OneThatEndsLaterThanAnyMayIsNotTakenUp) {
  for (const absl::Time until :
       {job_.now().wall + kLongestWatchPause + 2 * kWatchPauseClockSlack, absl::InfiniteFuture()}) {
    job_.RestartCoordinator();
    job_.Step(
        IncidentsOnDisk{.ids = {}, .pause = KeptPause{.until = until, .reason = "r", .by = "b"}});
    EXPECT_EQ(Status().pause, std::nullopt);
    EXPECT_TRUE(job_.Logged("the job is watched"));
  }
  job_.RestartCoordinator();
  job_.Step(IncidentsOnDisk{
      .ids = {},
      .pause = KeptPause{.until = job_.now().wall + kLongestWatchPause + kWatchPauseClockSlack / 2,
                         .reason = "r",
                         .by = "b"}});
  ASSERT_TRUE(Status().pause.has_value());
  EXPECT_EQ(Status().pause->left, kLongestWatchPause);
}

}  // namespace
}  // namespace rapideye::coordinator

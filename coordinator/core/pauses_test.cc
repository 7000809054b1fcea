// Tests of the pauses that training loops announce on their progress pages, and of how long
// the coordinator waits for their end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Both thresholds are "auto"; launches take a second.
class PausesTest : public ::testing::Test {
 protected:
  PausesTest() : job_(Options(), 2, 2) { job_.Run(absl::Minutes(1)); }

  // This worker's loop launches no more programs; the others stand in a launch that the worker
  // never got.
  void Rest(int slice, int task) {
    job_.Freeze();
    job_.at(slice, task).in_flight = false;
  }
  void Pause(Phase phase) {
    Rest(1, 0);
    job_.Enter(job_.at(1, 0), phase);
  }
  void GoOn() {
    job_.at(1, 0).in_flight = true;
    job_.Enter(job_.at(1, 0), Phase::kStep);
    job_.Thaw();
    job_.Run(absl::Seconds(30));
  }
  // With no launch in flight anywhere: returns how long that goes on before the alarm.
  absl::Duration AlarmWithNothingInFlight(absl::Duration limit) {
    job_.Freeze();
    for (auto& [id, agent] : job_.agents()) agent.in_flight = false;
    const absl::Duration begun = job_.now().monotonic;
    EXPECT_TRUE(job_.RunUntilConclude(limit));
    return job_.now().monotonic - begun;
  }

  FakeJob job_;
};

TEST_F(PausesTest, WithoutAPageAPauseOfOneWorkerIsTakenForAHang) {
  Rest(1, 0);
  EXPECT_TRUE(job_.RunUntilConclude(2 * kMinLaunchThreshold));
  EXPECT_FALSE(job_.concluded()[0].capture.header.announced_pause_ms.has_value());
}

TEST_F(PausesTest, AnAnnouncedCheckpointOfTwoMinutesRaisesNothing) {
  ASSERT_EQ(LaunchThreshold({}, Learning(), std::nullopt), absl::Seconds(10));
  Pause(Phase::kCheckpoint);
  job_.Run(absl::Minutes(2));
  GoOn();
  EXPECT_THAT(job_.concluded(), IsEmpty());
}

// The first launch after a pause takes its time, like any other.
TEST_F(PausesTest, AfterACheckpointTheThresholdBeginsAnew) {
  Pause(Phase::kCheckpoint);
  job_.Run(absl::Minutes(2));
  job_.at(1, 0).in_flight = true;
  job_.Enter(job_.at(1, 0), Phase::kStep);
  job_.Run(absl::Seconds(6));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  EXPECT_TRUE(job_.RunUntilConclude(absl::Seconds(10)));  // the launch never completes
}

TEST_F(PausesTest, ACheckpointThatIsAnnouncedForEverIsToldOf) {
  Pause(Phase::kCheckpoint);
  const absl::Duration begun = job_.now().monotonic;
  ASSERT_TRUE(job_.RunUntilConclude(2 * kMinHangThreshold));
  EXPECT_GE(job_.now().monotonic - begun, kMinHangThreshold - absl::Seconds(1));
  EXPECT_LE(job_.now().monotonic - begun, kMinHangThreshold + absl::Seconds(10));
  EXPECT_EQ(job_.concluded()[0].capture.header.announced_pause_ms,
            absl::ToInt64Milliseconds(kMinHangThreshold));
  EXPECT_TRUE(job_.Logged("slice 1 task 0 announces a checkpoint"));
}

// A page that begins its phase anew all the time gains no time by that.
TEST_F(PausesTest, ACheckpointThatIsAnnouncedAgainAndAgainIsToldOf) {
  Rest(1, 0);
  for (int i = 0; i < 20; ++i) {
    job_.Enter(job_.at(1, 0), i % 2 == 0 ? Phase::kCheckpoint : Phase::kEval);
    job_.Run(absl::Minutes(1));
  }
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

TEST_F(PausesTest, LongCheckpointsAreLearntWithinBounds) {
  Thresholds thresholds;
  Learning learning;
  const auto checkpoint = [&](absl::Duration time) {
    wire::Heartbeat heartbeat;
    heartbeat.progress.emplace().phase = Phase::kCheckpoint;
    heartbeat.progress->phase_ms = absl::ToInt64Milliseconds(time);
    learning.Observe({0, 0}, heartbeat, false);
    heartbeat.progress->phase = Phase::kStep;
    learning.Observe({0, 0}, heartbeat, true);
  };
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kCheckpoint), kMinHangThreshold);
  checkpoint(absl::Minutes(4));
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kCheckpoint), absl::Minutes(12));
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kEval), kMinHangThreshold);
  checkpoint(absl::Hours(1000));
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kCheckpoint), absl::Minutes(30));
  thresholds.longest_pause = absl::Hours(2);
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kCheckpoint), absl::Hours(2));
  thresholds.longest_pause = absl::Minutes(2);
  EXPECT_EQ(PauseAllowance(thresholds, learning, Phase::kCheckpoint), absl::Minutes(2));
  learning.Forget();
  EXPECT_EQ(PauseAllowance({}, learning, Phase::kCheckpoint), kMinHangThreshold);
}

// The length of evaluations excuses no checkpoint, once there was a checkpoint.
TEST_F(PausesTest, EachKindOfPauseIsMeasuredByItsOwn) {
  Learning learning;
  wire::Heartbeat heartbeat;
  heartbeat.longest_pause = absl::Minutes(6);
  heartbeat.progress.emplace().phase = Phase::kCheckpoint;
  heartbeat.progress->phase_ms = 120'000;
  learning.Observe({0, 0}, heartbeat, false);
  EXPECT_EQ(PauseAllowance({}, learning, Phase::kCheckpoint), absl::Minutes(18));
  heartbeat.progress->phase = Phase::kStep;
  learning.Observe({0, 0}, heartbeat, true);
  EXPECT_EQ(PauseAllowance({}, learning, Phase::kCheckpoint), absl::Minutes(6));
}

TEST_F(PausesTest, WhatWasLearntStandsInTheCapture) {
  Pause(Phase::kCheckpoint);
  job_.Run(absl::Minutes(2));
  GoOn();
  Pause(Phase::kEval);
  ASSERT_TRUE(job_.RunUntilConclude(2 * kMinHangThreshold));
  const CaptureHeader& header = job_.concluded()[0].capture.header;
  EXPECT_EQ(header.longest_pause_ms, 30 * 60'000);
  ASSERT_EQ(header.learnt_pauses.size(), 1u);
  EXPECT_EQ(header.learnt_pauses[0].phase, Phase::kCheckpoint);
  EXPECT_NEAR(static_cast<double>(header.learnt_pauses[0].longest_ms), 120'000, 2'000);
}

TEST_F(PausesTest, ACheckpointThatEndedAHangTeachesNothing) {
  Learning learning;
  wire::Heartbeat heartbeat;
  heartbeat.progress.emplace().phase = Phase::kCheckpoint;
  heartbeat.progress->phase_ms = 600'000;
  learning.Observe({0, 0}, heartbeat, false);
  learning.AfterIncident();
  heartbeat.progress->phase = Phase::kStep;
  learning.Observe({0, 0}, heartbeat, true);
  EXPECT_EQ(learning.LongestPhase(Phase::kCheckpoint), absl::ZeroDuration());
}

TEST_F(PausesTest, ACompilationMayTakeAsLongAsAStart) {
  Thresholds thresholds;
  EXPECT_EQ(PauseAllowance(thresholds, Learning(), Phase::kCompile), thresholds.startup_grace);
  thresholds.startup_grace = absl::Seconds(1);
  EXPECT_EQ(PauseAllowance(thresholds, Learning(), Phase::kCompile), kMinHangThreshold);
}

TEST_F(PausesTest, WhoStandsInALaunchMakesNoPause) {
  job_.Freeze();
  job_.Enter(job_.at(1, 0), Phase::kEval);
  EXPECT_TRUE(job_.RunUntilConclude(2 * kMinLaunchThreshold));
}

TEST_F(PausesTest, AThresholdThatIsSetStays) {
  Options options;
  options.thresholds.launch = absl::Seconds(4);
  FakeJob job(options, 1, 2);
  job.Run(absl::Minutes(1));
  job.Freeze();
  job.at(0, 1).in_flight = false;
  job.Enter(job.at(0, 1), Phase::kCheckpoint);
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
}

TEST_F(PausesTest, PagesThatExpectNoPauseMakeTheHangThresholdShorter) {
  for (auto& [id, agent] : job_.agents()) job_.Enter(agent, Phase::kStep);
  job_.Enter(job_.at(0, 1), Phase::kInput);
  EXPECT_LE(AlarmWithNothingInFlight(kMinHangThreshold),
            kMinWatchedHangThreshold + absl::Seconds(10));
}

TEST_F(PausesTest, OneLoopWithoutAWordKeepsItAsItIs) {
  for (auto& [id, agent] : job_.agents()) job_.Enter(agent, Phase::kStep);
  job_.at(0, 1).phase.reset();
  EXPECT_GE(AlarmWithNothingInFlight(2 * kMinHangThreshold), kMinHangThreshold);
}

TEST_F(PausesTest, PausesThatWereNotAnnouncedAreLearnt) {
  Learning learning;
  wire::Heartbeat heartbeat;
  heartbeat.longest_pause = absl::Minutes(5);
  heartbeat.longest_unannounced_pause = absl::Seconds(40);
  learning.Observe({0, 0}, heartbeat, true);
  EXPECT_EQ(HangThreshold({}, learning), absl::Minutes(15));
  EXPECT_EQ(WatchedHangThreshold({}, learning), absl::Minutes(2));
  Thresholds set;
  set.hang = absl::Seconds(9);
  EXPECT_EQ(WatchedHangThreshold(set, learning), absl::Seconds(9));
}

// An earlier coordinator has seen a checkpoint of four minutes.
class KeptPausesTest : public PausesTest {
 protected:
  KeptPausesTest() {
    job_.Step(IncidentsOnDisk{});
    Pause(Phase::kCheckpoint);
    job_.Run(absl::Minutes(4));
    GoOn();
    job_.Run(kKeepPausesSpacing);
    kept_ = job_.kept_pauses();
  }

  void Restart(std::optional<KeptPauses> kept) {
    job_.RestartCoordinator();
    job_.ConnectAll();
    job_.Step(IncidentsOnDisk{.ids = {}, .learnt = std::move(kept)});
    job_.Run(absl::Minutes(1));
  }
  // Returns how long the coordinator waits for a checkpoint.
  absl::Duration Patience() {
    Pause(Phase::kCheckpoint);
    const absl::Duration begun = job_.now().monotonic;
    EXPECT_TRUE(job_.RunUntilConclude(absl::Hours(1)));
    return job_.now().monotonic - begun;
  }

  std::optional<KeptPauses> kept_;
};

TEST_F(KeptPausesTest, OutlastTheCoordinator) {
  ASSERT_TRUE(kept_.has_value());
  EXPECT_GE(kept_->learnt.checkpoint, absl::Minutes(4) - absl::Seconds(2));
  Restart(kept_);
  EXPECT_GE(Patience(), absl::Minutes(11));
}

TEST_F(KeptPausesTest, OfAnotherJobTellNothing) {
  ASSERT_TRUE(kept_.has_value());
  kept_->job_incarnation += "x";
  Restart(kept_);
  EXPECT_LE(Patience(), kMinHangThreshold + absl::Seconds(5));
  // Pauses of this incarnation take the place of the earlier ones.
  ASSERT_TRUE(job_.kept_pauses().has_value());
  EXPECT_NE(job_.kept_pauses()->job_incarnation, kept_->job_incarnation);
}

TEST_F(KeptPausesTest, NothingIsWrittenBeforeTheDiskWasRead) {
  int written = 0;
  job_.ShowEffectsTo([&](const Effect& effect, std::optional<WorkerId>) {
    written += std::holds_alternative<PausesLearnt>(effect) ? 1 : 0;
  });
  job_.RestartCoordinator();
  job_.ConnectAll();
  job_.Run(2 * kKeepPausesSpacing);
  EXPECT_EQ(written, 0);
  job_.Step(IncidentsOnDisk{.ids = {}, .learnt = kept_});
  job_.Run(kKeepPausesSpacing);
  // And nothing that is there.
  EXPECT_EQ(written, 0);
}

}  // namespace
}  // namespace rapideye::coordinator

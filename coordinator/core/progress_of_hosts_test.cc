// Progress where no runtime answers: by pages, by lines of a log, by work that the kernel counts.
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"
#include "coordinator/core/progress.h"

namespace rapideye::coordinator {
namespace {

constexpr int64_t kAgentOfHost = 7;

// A job without a TPU runtime, whose training loops write progress pages.
class StepsTest : public ::testing::Test {
 protected:
  StepsTest() {
    for (int second = 0; second <= 100; second += 5) Hear(second, second);
  }

  // Both workers have been in this step since it began: a step begins every second.
  // `any_worked`: when the second worker last did anything but wait; absent: it does not tell.
  void Hear(int second, int64_t step, Phase phase = Phase::kStep,
            std::optional<int> any_worked = std::nullopt) {
    for (int task = 0; task < 2; ++task) {
      wire::Heartbeat heartbeat;
      heartbeat.process_incarnation = "p";
      heartbeat.runtime.state = RuntimeState::kUnavailable;
      heartbeat.progress = rapideye::Progress{.step = step, .phase = phase, .phase_ms = 0};
      if (task == 1 && any_worked.has_value()) {
        heartbeat.since_any_work = absl::Seconds(second - *any_worked);
      }
      const WorkerId worker{0, task};
      progress_.Observe(worker, kAgentOfHost, heartbeat, absl::Seconds(second));
      if (const auto took = progress_.Find(worker)->step_took) learning_.ObserveStep(worker, *took);
    }
  }

  std::optional<Standstill> Judge(double seconds) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(seconds));
  }

  Thresholds thresholds_;
  Learning learning_;
  Progress progress_;
};

TEST_F(StepsTest, StepsAreProgressWhereNoRuntimeAnswers) {
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
  EXPECT_EQ(learning_.LongestStep(), absl::Seconds(1));
  EXPECT_EQ(progress_.Running(), 2U);
}

TEST_F(StepsTest, StandingInAStepIsAHang) {
  for (int second = 105; second <= 160; second += 5) Hear(second, 100);
  EXPECT_FALSE(Judge(159.9).has_value());
  ASSERT_TRUE(Judge(160).has_value());
  EXPECT_EQ(Judge(160)->threshold, kMinWatchedHangThreshold);
  thresholds_.launch = absl::Seconds(20);
  EXPECT_EQ(Judge(160)->threshold, absl::Seconds(20));
}

TEST_F(StepsTest, SlowStepsAreWaitedForInProportion) {
  Hear(140, 101);
  EXPECT_EQ(learning_.LongestStep(), absl::Seconds(40));
  EXPECT_FALSE(Judge(330).has_value());
  EXPECT_TRUE(Judge(340).has_value());
}

TEST_F(StepsTest, ACheckpointIsAnAnnouncedPause) {
  Hear(105, 100, Phase::kCheckpoint);
  EXPECT_FALSE(Judge(200).has_value());
  ASSERT_TRUE(Judge(400).has_value());
  EXPECT_TRUE(Judge(400)->announced);
  EXPECT_EQ(Judge(400)->threshold, kMinHangThreshold);
}

TEST_F(StepsTest, APauseIsNoLongStep) {
  Hear(105, 100, Phase::kCheckpoint);
  Hear(165, 100);
  Hear(170, 101);
  EXPECT_EQ(learning_.LongestStep(), absl::Seconds(1));
}

TEST_F(StepsTest, ARestoredCheckpointGoesBackAndIsNoProgress) {
  Hear(105, 40);
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
  Hear(110, 45);
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(110));
}

TEST_F(StepsTest, BeforeTwoStepsTheStartUpGraceHolds) {
  progress_.Forget();
  learning_.Forget();
  Hear(200, 0);
  EXPECT_FALSE(Judge(1999).has_value());
  ASSERT_TRUE(Judge(2000).has_value());
  EXPECT_EQ(Judge(2000)->threshold, thresholds_.startup_grace);
}

TEST_F(StepsTest, AStartIsWaitedForWithinBoundsWhileAnyWorkerWorks) {
  thresholds_.startup_grace = absl::Minutes(1);
  progress_.Forget();
  learning_.Forget();
  Hear(200, 0);
  EXPECT_TRUE(Judge(260).has_value());
  // A worker compiles, and the others wait for it.
  Hear(270, 0, Phase::kStep, 265);
  EXPECT_FALSE(Judge(265 + 29).has_value());
  EXPECT_TRUE(Judge(265 + 30).has_value());
  Hear(380, 0, Phase::kStep, 380);
  EXPECT_FALSE(Judge(379).has_value());
  EXPECT_TRUE(Judge(380).has_value());
  thresholds_.longest_pause = absl::Seconds(90);
  EXPECT_TRUE(Judge(290).has_value());
  EXPECT_FALSE(Judge(289).has_value());
}

// A job of which one worker's log tells the step, every 10 s, and nothing else.
class StepLinesTest : public ::testing::Test {
 protected:
  StepLinesTest() {
    for (int second = 0; second <= 100; second += 10) Hear(second, second, second);
  }

  // `told`: when a line last told a further step.
  void Hear(int second, int64_t advances, int told, int64_t agent = kAgentOfHost) {
    wire::Heartbeat heartbeat;
    heartbeat.process_incarnation = "p";
    heartbeat.runtime.state = RuntimeState::kUnavailable;
    Observe({0, 1}, agent, heartbeat, second);
    heartbeat.step_lines = wire::StepLines{.step = advances,
                                           .advances = advances,
                                           .since_advance = absl::Seconds(second - told),
                                           .longest = longest_};
    Observe({0, 0}, agent, heartbeat, second);
  }

  void Observe(const WorkerId& worker, int64_t agent, const wire::Heartbeat& heartbeat,
               int second) {
    const bool advanced = progress_.Observe(worker, agent, heartbeat, absl::Seconds(second));
    learning_.Observe(worker, heartbeat, advanced);
    advanced_ = advanced;
  }

  std::optional<Standstill> Judge(double seconds) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(seconds));
  }

  absl::Duration longest_ = absl::Seconds(10);
  bool advanced_ = false;  // by the last heartbeat
  Thresholds thresholds_;
  Learning learning_;
  Progress progress_;
};

TEST_F(StepLinesTest, LinesOfOneLogTellTheProgressOfTheJob) {
  EXPECT_TRUE(advanced_);
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
  EXPECT_EQ(progress_.Running(), 1U);
  Hear(150, 100, 100);
  EXPECT_FALSE(advanced_);
  EXPECT_FALSE(Judge(399).has_value());
  ASSERT_TRUE(Judge(400).has_value());
  EXPECT_EQ(Judge(400)->threshold, kMinHangThreshold);
}

TEST_F(StepLinesTest, NoLineIsMissingBeforeItIsDue) {
  thresholds_.hang = absl::Seconds(20);
  EXPECT_FALSE(Judge(129).has_value());
  EXPECT_TRUE(Judge(130).has_value());
  longest_ = absl::Minutes(10);
  Hear(700, 101, 700);
  EXPECT_FALSE(Judge(2499).has_value());
  EXPECT_TRUE(Judge(2500).has_value());
}

TEST_F(StepLinesTest, TheOnlyLogMayGoWithItsHost) {
  progress_.Disconnected({0, 0});
  EXPECT_TRUE(Judge(400).has_value());
  // Once all workers have gone, the job is over.
  progress_.Disconnected({0, 1});
  EXPECT_FALSE(Judge(400).has_value());
}

TEST_F(StepLinesTest, AProcessThatEndsTakesItsStepsAlong) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  Observe({0, 0}, kAgentOfHost, heartbeat, 110);
  EXPECT_FALSE(Judge(100'000).has_value());
}

TEST_F(StepLinesTest, AnotherAgentCountsAnew) {
  Hear(110, 500, 100, kAgentOfHost + 1);
  EXPECT_FALSE(advanced_);
  Hear(120, 501, 120, kAgentOfHost + 1);
  EXPECT_TRUE(advanced_);
}

TEST_F(StepLinesTest, APageThatHasTheStepIsBelievedRatherThanLines) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.progress = rapideye::Progress{.step = 7, .phase = Phase::kStep, .phase_ms = 0};
  heartbeat.step_lines = wire::StepLines{.step = 900, .advances = 900, .since_advance = {}};
  Observe({0, 0}, kAgentOfHost, heartbeat, 110);
  EXPECT_EQ(progress_.Find({0, 0})->step, 7);
  EXPECT_FALSE(progress_.Find({0, 0})->ByLines());
  heartbeat.step_lines->advances = 901;
  Observe({0, 0}, kAgentOfHost, heartbeat, 120);
  EXPECT_FALSE(advanced_);
}

TEST_F(StepLinesTest, ARuntimeThatAnswersIsBelievedRatherThanLines) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.runtime.state = RuntimeState::kServing;
  heartbeat.step_lines = wire::StepLines{.step = 900, .advances = 900, .since_advance = {}};
  Observe({0, 0}, kAgentOfHost, heartbeat, 110);
  EXPECT_FALSE(advanced_);
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
}

// The same, and the kernels of both workers tell of their work. The last line came at 100 s.
class WorkBesideLinesTest : public StepLinesTest {
 protected:
  // `worked`: when each was last seen at work, in seconds; below zero: no rhythm is known.
  void HearWork(double now, double first, double second) {
    HearOne({0, 0}, now, first);
    HearOne({0, 1}, now, second);
  }
  void HearOne(const WorkerId& worker, double now, double worked) {
    wire::Heartbeat heartbeat;
    heartbeat.process_incarnation = "p";
    heartbeat.runtime.state = RuntimeState::kUnavailable;
    if (worker.task == 0) {
      heartbeat.step_lines = wire::StepLines{.step = 100,
                                             .advances = 100,
                                             .since_advance = absl::Seconds(now - 100),
                                             .longest = longest_};
    }
    if (worked >= 0) {
      heartbeat.activity = wire::ProcessActivity{.signal = signal_,
                                                 .advances = static_cast<int64_t>(worked),
                                                 .since_advance = absl::Seconds(now - worked),
                                                 .longest = absl::Seconds(5)};
    }
    if (any_worked_.has_value()) heartbeat.since_any_work = absl::Seconds(now - *any_worked_);
    progress_.Observe(worker, kAgentOfHost, heartbeat, absl::Seconds(now));
  }

  wire::ProcessActivitySignal signal_ = wire::ProcessActivitySignal::kTraffic;
  std::optional<double> any_worked_;  // absent: an agent that does not tell
};

TEST_F(WorkBesideLinesTest, AnEvaluationThatWritesNoLinesIsWaitedFor) {
  HearWork(400, 398, 399);
  EXPECT_FALSE(Judge(400).has_value());
  const std::optional<Standstill> measure =
      progress_.Measure(thresholds_, learning_, absl::Seconds(400));
  EXPECT_NE(measure->why.find("no training process only waits"), std::string::npos) << measure->why;
  // The wait ends after half of the threshold without work of one worker.
  EXPECT_FALSE(Judge(398 + 149).has_value());
  EXPECT_TRUE(Judge(398 + 150).has_value());
}

TEST_F(WorkBesideLinesTest, AHangIsNoticedAsSoonAsBefore) {
  // Work under way when the last line came is seen a little later.
  HearWork(400, 105, 109);
  EXPECT_FALSE(Judge(399).has_value());
  ASSERT_TRUE(Judge(400).has_value());
  EXPECT_EQ(Judge(400)->why, "the log tells of no further step");
}

TEST_F(WorkBesideLinesTest, WorkInVainIsNoExcuseForEver) {
  HearWork(1000, 1000, 1000);
  EXPECT_FALSE(Judge(999).has_value());
  EXPECT_TRUE(Judge(1000).has_value());
  thresholds_.longest_pause = absl::Minutes(7);
  EXPECT_FALSE(Judge(519).has_value());
  EXPECT_TRUE(Judge(520).has_value());
  // A line is never missing before it is due.
  thresholds_.longest_pause = absl::Minutes(1);
  EXPECT_FALSE(Judge(399).has_value());
  EXPECT_TRUE(Judge(400).has_value());
}

TEST_F(WorkBesideLinesTest, OneThatRetriesWhileTheOthersWaitForItExcusesNothing) {
  HearWork(400, 400, 104);
  EXPECT_TRUE(Judge(400).has_value());
  // A worker without known work does not excuse the standstill either.
  HearWork(400, 400, -1);
  EXPECT_TRUE(Judge(400).has_value());
  // A worker that has gone has no part in it.
  HearWork(400, 400, 104);
  progress_.Disconnected({0, 1});
  EXPECT_FALSE(Judge(400).has_value());
}

TEST_F(WorkBesideLinesTest, CpuTimeIsUsedByWaitingInALoop) {
  signal_ = wire::ProcessActivitySignal::kCpuTime;
  HearWork(400, 400, 400);
  EXPECT_TRUE(Judge(400).has_value());
  signal_ = wire::ProcessActivitySignal::kInputOutput;
  HearWork(400, 400, 400);
  EXPECT_FALSE(Judge(400).has_value());
}

TEST_F(WorkBesideLinesTest, AnyWorkIsWaitedForThoughItIsNotThatOfSteps) {
  any_worked_ = 399;
  HearWork(400, 101, 102);
  EXPECT_FALSE(Judge(400).has_value());
  EXPECT_FALSE(Judge(399 + 149).has_value());
  EXPECT_TRUE(Judge(399 + 150).has_value());
  // CPU time beyond that of steps is part of it.
  signal_ = wire::ProcessActivitySignal::kCpuTime;
  HearWork(400, 101, 102);
  EXPECT_FALSE(Judge(400).has_value());
  any_worked_ = 104;
  HearWork(400, 101, 102);
  EXPECT_TRUE(Judge(400).has_value());
}

// Four workers whose kernels alone tell of their work; first seen at 100 s.
class ActivityTest : public ::testing::Test {
 protected:
  ActivityTest() {
    thresholds_.startup_grace = absl::Minutes(10);
    Hear(100, {100, 100, 100, 100});
  }

  // `worked`: when each was last seen at work, in seconds; below zero: no rhythm is known.
  void Hear(double now, std::vector<double> worked, bool process = true) {
    for (int task = 0; task < static_cast<int>(worked.size()); ++task) {
      wire::Heartbeat heartbeat;
      if (process) heartbeat.process_incarnation = "p";
      const double at = worked[static_cast<size_t>(task)];
      if (at >= 0) {
        heartbeat.activity = wire::ProcessActivity{.signal = signal_,
                                                   .advances = static_cast<int64_t>(at),
                                                   .since_advance = absl::Seconds(now - at),
                                                   .longest = longest_};
      }
      if (any_worked_.has_value()) heartbeat.since_any_work = absl::Seconds(now - *any_worked_);
      advanced_ = progress_.Observe({0, task}, kAgentOfHost, heartbeat, absl::Seconds(now));
    }
  }
  std::optional<Standstill> Judge(double seconds) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(seconds));
  }

  wire::ProcessActivitySignal signal_ = wire::ProcessActivitySignal::kTraffic;
  absl::Duration longest_ = absl::Seconds(5);
  std::optional<double> any_worked_;
  Thresholds thresholds_;
  Learning learning_;
  Progress progress_;
  bool advanced_ = false;
};

TEST_F(ActivityTest, ProcessesThatStopWorkingStandStill) {
  Hear(1000, {1000, 1000, 1000, 1000});
  EXPECT_TRUE(advanced_);
  EXPECT_FALSE(Judge(1299).has_value());
  ASSERT_TRUE(Judge(1300).has_value());
  EXPECT_EQ(Judge(1300)->threshold, kMinHangThreshold);
  EXPECT_EQ(Judge(1300)->noticed_by, "traffic of the training processes' connections");
}

TEST_F(ActivityTest, AnyWorkOfAllIsWaitedForWithinBounds) {
  any_worked_ = 1290;
  Hear(1300, {1000, 1000, 1000, 1000});
  EXPECT_FALSE(Judge(1300).has_value());
  EXPECT_TRUE(Judge(1290 + 150).has_value());
  any_worked_ = 1900;
  Hear(1900, {1000, 1000, 1000, 1000});
  EXPECT_TRUE(Judge(1900).has_value());
}

TEST_F(ActivityTest, OneThatSpinsWhileAllWaitForItDoesNotHideIt) {
  Hear(1300, {1000, 1000, 1300, 1000});
  EXPECT_TRUE(Judge(1300).has_value());
  // Most work: some have less to do for a while.
  Hear(1300, {1000, 1300, 1300, 1300});
  EXPECT_FALSE(Judge(1300).has_value());
}

TEST_F(ActivityTest, TheLongestGapOfHealthCountsThreefold) {
  longest_ = absl::Seconds(200);
  Hear(1000, {1000, 1000, 1000, 1000});
  EXPECT_FALSE(Judge(1599).has_value());
  EXPECT_TRUE(Judge(1600).has_value());
}

TEST_F(ActivityTest, NothingIsConcludedWhileAJobStarts) {
  EXPECT_FALSE(Judge(699).has_value());
  EXPECT_TRUE(Judge(700).has_value());
}

TEST_F(ActivityTest, AStartWithoutTrafficIsWaitedForWithinBoundsWhileAnyWorkerWorks) {
  signal_ = wire::ProcessActivitySignal::kInputOutput;
  Hear(700, {300, 300, 300, 300});
  EXPECT_TRUE(Judge(700).has_value());
  any_worked_ = 650;
  Hear(700, {300, 300, 300, 300});
  EXPECT_FALSE(Judge(650 + 299).has_value());
  EXPECT_TRUE(Judge(650 + 300).has_value());
  any_worked_ = 1900;
  Hear(1900, {300, 300, 300, 300});
  EXPECT_FALSE(Judge(1899).has_value());
  EXPECT_TRUE(Judge(1900).has_value());
  // A job that exchanges something has started.
  signal_ = wire::ProcessActivitySignal::kTraffic;
  Hear(1300, {300, 300, 300, 300});
  EXPECT_TRUE(Judge(1300).has_value());
}

TEST_F(ActivityTest, AThresholdOfSecondsIsNotAboutProcessesThatWork) {
  thresholds_.hang = absl::Seconds(12);
  longest_ = absl::Seconds(1);
  Hear(1001, {1000, 1000, 1000, 1000});
  EXPECT_TRUE(Judge(1012).has_value());
  any_worked_ = 1060;
  Hear(1060, {1000, 1000, 1000, 1000});
  EXPECT_FALSE(Judge(1059).has_value());
  EXPECT_TRUE(Judge(1060).has_value());
}

TEST_F(ActivityTest, TooFewRhythmsTellNothing) {
  Hear(1000, {1000, -1, -1, -1});
  EXPECT_FALSE(Judge(10'000).has_value());
  Hear(1000, {1000, 1000, -1, -1});
  EXPECT_TRUE(Judge(10'000).has_value());
}

TEST_F(ActivityTest, AProcessThatEndsTakesItsRhythmAlong) {
  Hear(1000, {-1, -1, -1, -1}, /*process=*/false);
  EXPECT_FALSE(Judge(10'000).has_value());
}

TEST_F(ActivityTest, LinesOfALogAreBelievedRatherThanWork) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.step_lines =
      wire::StepLines{.step = 9, .advances = 9, .since_advance = absl::ZeroDuration()};
  progress_.Observe({0, 0}, kAgentOfHost, heartbeat, absl::Seconds(1300));
  EXPECT_FALSE(Judge(1599).has_value());
  ASSERT_TRUE(Judge(1600).has_value());
  EXPECT_EQ(Judge(1600)->noticed_by, "steps that the log tells");
}

TEST_F(StepsTest, ARuntimeThatAnswersIsBelievedRatherThanPages) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.runtime.state = RuntimeState::kServing;
  heartbeat.progress = rapideye::Progress{.step = 500, .phase = Phase::kStep};
  EXPECT_FALSE(progress_.Observe({0, 0}, kAgentOfHost, heartbeat, absl::Seconds(105)));
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
}

}  // namespace
}  // namespace rapideye::coordinator

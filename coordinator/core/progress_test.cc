#include "coordinator/core/progress.h"

#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr int64_t kAgent = 7;

// One worker's heartbeats, told in absolute times.
struct Worker {
  WorkerId id;
  int64_t agent = kAgent;
  std::string process = "p";
  RuntimeState runtime = RuntimeState::kServing;
  int64_t completed = 0;
  absl::Duration last_completion;
  bool in_flight = true;
  std::string program = "aa";

  wire::Heartbeat At(absl::Duration now) const {
    wire::Heartbeat heartbeat;
    heartbeat.process_incarnation = process;
    heartbeat.runtime.state = runtime;
    heartbeat.launches_completed = completed;
    if (completed > 0) heartbeat.since_completion = now - last_completion;
    heartbeat.launch_in_flight = in_flight;
    if (in_flight) heartbeat.queue.push_back({program, 1});
    return heartbeat;
  }
};

class ProgressTest : public ::testing::Test {
 protected:
  // Two workers whose program "aa" has completed, last at 100 s.
  ProgressTest() {
    for (int task = 0; task < 2; ++task) {
      workers_[task].id = {0, task};
      workers_[task].completed = 10;
      workers_[task].last_completion = absl::Seconds(100);
    }
    Learn("aa", absl::Seconds(1));
    Hear(absl::Seconds(100));
  }

  void Learn(const std::string& fingerprint, absl::Duration longest) {
    wire::Heartbeat heartbeat;
    heartbeat.programs.push_back({std::nullopt, fingerprint, 10, longest});
    learning_.Observe({0, 0}, heartbeat, true);
  }

  void Hear(absl::Duration now) {
    for (const Worker& worker : workers_) {
      progress_.Observe(worker.id, worker.agent, worker.At(now), now);
    }
  }

  std::optional<Standstill> Judge(double seconds) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(seconds));
  }

  Worker workers_[2];
  Thresholds thresholds_;
  Learning learning_;
  Progress progress_;
};

TEST_F(ProgressTest, InsideALaunchTheLaunchThresholdApplies) {
  EXPECT_FALSE(Judge(109.9).has_value());
  ASSERT_TRUE(Judge(110).has_value());
  EXPECT_EQ(Judge(110)->threshold, kMinLaunchThreshold);
  EXPECT_EQ(Judge(112)->still_for, absl::Seconds(12));
}

TEST_F(ProgressTest, HeartbeatsWithoutCompletionsAreNoProgress) {
  for (int second = 101; second <= 110; ++second) Hear(absl::Seconds(second));
  EXPECT_TRUE(Judge(110).has_value());
}

TEST_F(ProgressTest, OneWorkerThatCompletesIsEnough) {
  workers_[1].completed = 11;
  workers_[1].last_completion = absl::Seconds(108);
  Hear(absl::Seconds(109));
  EXPECT_FALSE(Judge(117.9).has_value());
  EXPECT_TRUE(Judge(118).has_value());
}

// Workers 1 and later stand in a launch since 100 s; worker 0 completes one each second, as one
// does that lies, or that runs a program of its own.
class OneAdvancesTest : public ProgressTest {
 protected:
  void Stand(int workers, int advancing, double until, const std::string& program = "aa") {
    for (int task = 0; task < workers; ++task) {
      Worker worker{.id = {0, task}, .completed = 10, .last_completion = absl::Seconds(100)};
      worker.program = program;
      progress_.Observe(worker.id, worker.agent, worker.At(absl::Seconds(100)), absl::Seconds(100));
      if (task < advancing) {
        worker.completed = 20;
        worker.last_completion = absl::Seconds(until);
      }
      progress_.Observe(worker.id, worker.agent, worker.At(absl::Seconds(until)),
                        absl::Seconds(until));
    }
  }
};

TEST_F(OneAdvancesTest, DoesNotSilenceTheOthers) {
  const double twice = 100 + 2 * absl::ToDoubleSeconds(kMinLaunchThreshold);
  Stand(/*workers=*/4, /*advancing=*/1, twice - 0.1);
  EXPECT_FALSE(Judge(twice - 0.1).has_value());
  Stand(/*workers=*/4, /*advancing=*/1, twice);
  ASSERT_TRUE(Judge(twice).has_value());
  EXPECT_TRUE(Judge(twice)->most_stand);
  EXPECT_NE(Judge(twice)->why.find("while slice 0 task 0 alone advances"), std::string::npos)
      << Judge(twice)->why;
}

TEST_F(OneAdvancesTest, OfTwoNobodyKnowsWhichIsRight) {
  Stand(/*workers=*/2, /*advancing=*/1, 200);
  EXPECT_FALSE(Judge(200).has_value());
}

TEST_F(OneAdvancesTest, MoreThanOneInTenAreProgress) {
  Stand(/*workers=*/20, /*advancing=*/3, 200);
  EXPECT_FALSE(Judge(200).has_value());
  Stand(/*workers=*/40, /*advancing=*/2, 300);
  EXPECT_TRUE(Judge(300).has_value());
}

TEST_F(OneAdvancesTest, AsManyWorkersAsOneHostConnectsAreOne) {
  constexpr int kGhosts = 40;
  constexpr int kAll = 44;
  for (int task = 0; task < kAll; ++task) {
    progress_.Connected({0, task}, task < kGhosts ? "10.0.0.66" : "10.0.1." + std::to_string(task));
  }
  // They advance while the others stand.
  Stand(kAll, kGhosts, 200);
  EXPECT_TRUE(Judge(200).has_value());
  // They connect from addresses of their own: these are the job.
  for (int task = 0; task < kGhosts; ++task) {
    progress_.Connected({0, task}, "10.0.2." + std::to_string(task));
  }
  EXPECT_FALSE(Judge(200).has_value());
}

TEST_F(OneAdvancesTest, AsManyWorkersAsOneHostConnectsRaiseNothing) {
  constexpr int kHonest = 4;
  constexpr int kAll = 44;
  Stand(kAll, kHonest, 200);
  EXPECT_TRUE(Judge(200).has_value());
  for (int task = 0; task < kAll; ++task) {
    progress_.Connected({0, task}, task < kHonest ? "10.0.1." + std::to_string(task) : "10.0.0.66");
  }
  EXPECT_FALSE(Judge(200).has_value());
}

// It stands as the others do until somebody looks.
TEST_F(OneAdvancesTest, FewThatCompleteBetweenTheLooksOutweighNobodyOnceMostHaveStoodForLong) {
  Stand(/*workers=*/4, /*advancing=*/0, 111);
  ASSERT_TRUE(Judge(111).has_value());
  EXPECT_FALSE(Judge(111)->most_stand);
  ASSERT_TRUE(Judge(120).has_value());
  EXPECT_TRUE(Judge(120)->most_stand);
  // One completes just enough for its standstill to be short.
  Stand(/*workers=*/4, /*advancing=*/1, 120);
  ASSERT_TRUE(Judge(131).has_value());
  EXPECT_TRUE(Judge(131)->most_stand);
  Stand(/*workers=*/4, /*advancing=*/2, 132);
  ASSERT_TRUE(Judge(143).has_value());
  EXPECT_FALSE(Judge(143)->most_stand);
}

TEST_F(OneAdvancesTest, TheIdleWaitForThoseThatStand) {
  Stand(/*workers=*/8, /*advancing=*/1, 200);
  for (int task = 8; task < 30; ++task) {
    Worker idle{.id = {0, task}, .completed = 10, .last_completion = absl::Seconds(100)};
    idle.in_flight = false;
    progress_.Observe(idle.id, idle.agent, idle.At(absl::Seconds(200)), absl::Seconds(200));
  }
  EXPECT_TRUE(Judge(200).has_value());
  // One that stands against one that advances is no majority, however many are idle.
  for (int task = 2; task < 8; ++task) {
    Worker idle{.id = {0, task}, .completed = 10, .last_completion = absl::Seconds(100)};
    idle.in_flight = false;
    progress_.Observe(idle.id, idle.agent, idle.At(absl::Seconds(200)), absl::Seconds(200));
  }
  EXPECT_FALSE(Judge(200).has_value());
}

TEST_F(OneAdvancesTest, TheFirstLaunchOfAProgramIsWaitedForTwiceTheHangThreshold) {
  const double twice = 100 + 2 * absl::ToDoubleSeconds(kMinHangThreshold);
  Stand(/*workers=*/4, /*advancing=*/1, twice - 0.1, "new");
  EXPECT_FALSE(Judge(twice - 0.1).has_value());
  Stand(/*workers=*/4, /*advancing=*/1, twice, "new");
  EXPECT_TRUE(Judge(twice).has_value());
}

TEST_F(OneAdvancesTest, AnAnnouncedPauseIsStillWaitedFor) {
  Stand(/*workers=*/4, /*advancing=*/1, 200);
  ASSERT_TRUE(Judge(200).has_value());
  Worker pausing{.id = {0, 4}, .completed = 10, .last_completion = absl::Seconds(100)};
  pausing.in_flight = false;
  wire::Heartbeat heartbeat = pausing.At(absl::Seconds(200));
  heartbeat.progress = rapideye::Progress{.step = 1, .phase = Phase::kCheckpoint, .phase_ms = 0};
  progress_.Observe(pausing.id, kAgent, heartbeat, absl::Seconds(200));
  EXPECT_FALSE(Judge(200).has_value());
  // But not for ever.
  Stand(/*workers=*/4, /*advancing=*/1, 5000);
  EXPECT_TRUE(Judge(5000).has_value());
}

TEST_F(ProgressTest, AutoLaunchThresholdIsFiveTimesTheLongestUpToFiveMinutes) {
  Learn("aa", absl::Seconds(6));
  EXPECT_FALSE(Judge(129).has_value());
  EXPECT_EQ(Judge(130)->threshold, absl::Seconds(30));
  Learn("aa", absl::Minutes(20));
  EXPECT_FALSE(Judge(399).has_value());
  EXPECT_EQ(Judge(400)->threshold, kMaxLaunchThreshold);
}

TEST_F(ProgressTest, ConfiguredLaunchThresholdIsTakenAsItIs) {
  thresholds_.launch = absl::Seconds(3);
  EXPECT_FALSE(Judge(102.9).has_value());
  EXPECT_TRUE(Judge(103).has_value());
}

TEST_F(ProgressTest, LaunchWithinItsHealthyLengthIsWaitedFor) {
  Learn("bb", absl::Seconds(20));
  workers_[1].program = "bb";
  Hear(absl::Seconds(101));
  EXPECT_FALSE(Judge(199).has_value());
  EXPECT_EQ(Judge(200)->threshold, absl::Seconds(100));
}

TEST_F(ProgressTest, WhenNothingRunsTheHangThresholdApplies) {
  for (Worker& worker : workers_) worker.in_flight = false;
  Hear(absl::Seconds(101));
  EXPECT_FALSE(Judge(399).has_value());
  EXPECT_EQ(Judge(400)->threshold, kMinHangThreshold);
}

TEST_F(ProgressTest, AutoHangThresholdIsThreeTimesTheLongestPause) {
  wire::Heartbeat heartbeat;
  heartbeat.longest_pause = absl::Minutes(4);
  learning_.Observe({0, 0}, heartbeat, false);
  EXPECT_EQ(HangThreshold(thresholds_, learning_), absl::Minutes(12));
  thresholds_.hang = absl::Seconds(30);
  EXPECT_EQ(HangThreshold(thresholds_, learning_), absl::Seconds(30));
}

TEST_F(ProgressTest, LaunchAfterAPauseIsMeasuredFromItsStart) {
  for (Worker& worker : workers_) worker.in_flight = false;
  Hear(absl::Seconds(101));
  workers_[0].in_flight = true;
  Hear(absl::Seconds(200));  // a checkpoint later
  EXPECT_FALSE(Judge(209).has_value());
  EXPECT_EQ(Judge(210)->still_for, absl::Seconds(10));
}

TEST_F(ProgressTest, StartupGraceUntilTheFirstLaunchCompletes) {
  Progress fresh;
  Worker worker;
  fresh.Observe(worker.id, kAgent, worker.At(absl::Seconds(100)), absl::Seconds(100));
  EXPECT_FALSE(fresh.Judge(thresholds_, learning_, absl::Seconds(1899)).has_value());
  EXPECT_EQ(fresh.Judge(thresholds_, learning_, absl::Seconds(1900))->threshold, absl::Minutes(30));
}

TEST_F(ProgressTest, NewProgramHasGraceWhileNothingElseIsInFlight) {
  for (Worker& worker : workers_) worker.program = "dd";
  Hear(absl::Seconds(101));
  EXPECT_FALSE(Judge(1899).has_value());
  EXPECT_EQ(Judge(1901)->threshold, absl::Minutes(30));
}

TEST_F(ProgressTest, NewProgramOfOneWorkerDoesNotCoverThoseStuckInAKnownOne) {
  workers_[1].program = "dd";
  Hear(absl::Seconds(101));
  EXPECT_FALSE(Judge(109).has_value());
  EXPECT_TRUE(Judge(110).has_value());
}

TEST_F(ProgressTest, JobWithoutAnyRuntimeIsNotRunning) {
  for (Worker& worker : workers_) worker.runtime = RuntimeState::kUnavailable;
  Hear(absl::Seconds(101));
  EXPECT_FALSE(Judge(10'000).has_value());
  workers_[0].runtime = RuntimeState::kTimedOut;  // there, and silent
  Hear(absl::Seconds(102));
  EXPECT_TRUE(Judge(10'000).has_value());
}

TEST_F(ProgressTest, DisconnectedWorkerKeepsWhatItCompletedOnly) {
  workers_[1].completed = 11;
  workers_[1].last_completion = absl::Seconds(105);
  Hear(absl::Seconds(105));
  progress_.Disconnected({0, 1});
  EXPECT_FALSE(Judge(114).has_value());
  EXPECT_TRUE(Judge(115).has_value());
  progress_.Disconnected({0, 0});
  EXPECT_FALSE(Judge(10'000).has_value());
}

TEST_F(ProgressTest, DelayedHeartbeatsDoNotMoveACompletion) {
  Worker& worker = workers_[0];
  wire::Heartbeat delayed = worker.At(absl::Seconds(102));
  progress_.Observe(worker.id, kAgent, delayed, absl::Seconds(107));
  EXPECT_TRUE(Judge(110).has_value());
}

TEST_F(ProgressTest, AdvancedComparesWithinOneAgentAndProcess) {
  Worker worker = workers_[0];
  const absl::Duration now = absl::Seconds(102);
  EXPECT_FALSE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
  worker.completed = 11;
  EXPECT_TRUE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
  // A new agent counts anew: not to be compared.
  EXPECT_FALSE(progress_.Advanced(worker.id, worker.agent + 1, worker.At(now)));
  // A new process that has completed something has advanced.
  worker.process = "q";
  worker.completed = 1;
  EXPECT_TRUE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
  worker.completed = 0;
  EXPECT_FALSE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
}

TEST_F(ProgressTest, RestartedAgentDoesNotHideAHang) {
  for (Worker& worker : workers_) {
    ++worker.agent;
    worker.completed = 0;  // as the new agent sees it
  }
  Hear(absl::Seconds(105));
  EXPECT_TRUE(Judge(110).has_value());
}

TEST_F(ProgressTest, ForgetStartsTheGraceAnew) {
  progress_.Forget();
  for (Worker& worker : workers_) {
    worker.process = "q";
    worker.completed = 0;
  }
  Hear(absl::Seconds(105));
  EXPECT_FALSE(Judge(1904).has_value());
  EXPECT_TRUE(Judge(1905).has_value());
}

// A job without a TPU runtime, whose training loops write progress pages.
class StepsTest : public ::testing::Test {
 protected:
  StepsTest() {
    for (int second = 0; second <= 100; second += 5) Hear(second, second);
  }

  // Both workers are in this step since it began: one begins every second.
  void Hear(int second, int64_t step, Phase phase = Phase::kStep) {
    for (int task = 0; task < 2; ++task) {
      wire::Heartbeat heartbeat;
      heartbeat.process_incarnation = "p";
      heartbeat.runtime.state = RuntimeState::kUnavailable;
      heartbeat.progress = rapideye::Progress{.step = step, .phase = phase, .phase_ms = 0};
      const WorkerId worker{0, task};
      progress_.Observe(worker, kAgent, heartbeat, absl::Seconds(second));
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

// A job of which one worker's log tells the step, every 10 s, and nothing else.
class StepLinesTest : public ::testing::Test {
 protected:
  StepLinesTest() {
    for (int second = 0; second <= 100; second += 10) Hear(second, second, second);
  }

  // `told`: when a line last told a further step.
  void Hear(int second, int64_t advances, int told, int64_t agent = kAgent) {
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
  // With all others it is the end of the job.
  progress_.Disconnected({0, 1});
  EXPECT_FALSE(Judge(400).has_value());
}

TEST_F(StepLinesTest, AProcessThatEndsTakesItsStepsAlong) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  Observe({0, 0}, kAgent, heartbeat, 110);
  EXPECT_FALSE(Judge(100'000).has_value());
}

TEST_F(StepLinesTest, AnotherAgentCountsAnew) {
  Hear(110, 500, 100, kAgent + 1);
  EXPECT_FALSE(advanced_);
  Hear(120, 501, 120, kAgent + 1);
  EXPECT_TRUE(advanced_);
}

TEST_F(StepLinesTest, APageThatHasTheStepIsBelievedRatherThanLines) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.progress = rapideye::Progress{.step = 7, .phase = Phase::kStep, .phase_ms = 0};
  heartbeat.step_lines = wire::StepLines{.step = 900, .advances = 900, .since_advance = {}};
  Observe({0, 0}, kAgent, heartbeat, 110);
  EXPECT_EQ(progress_.Find({0, 0})->step, 7);
  EXPECT_FALSE(progress_.Find({0, 0})->ByLines());
  heartbeat.step_lines->advances = 901;
  Observe({0, 0}, kAgent, heartbeat, 120);
  EXPECT_FALSE(advanced_);
}

TEST_F(StepLinesTest, ARuntimeThatAnswersIsBelievedRatherThanLines) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.runtime.state = RuntimeState::kServing;
  heartbeat.step_lines = wire::StepLines{.step = 900, .advances = 900, .since_advance = {}};
  Observe({0, 0}, kAgent, heartbeat, 110);
  EXPECT_FALSE(advanced_);
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
}

// Likewise, and the kernels of both workers tell of their work. The last line came at 100 s.
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
    progress_.Observe(worker, kAgent, heartbeat, absl::Seconds(now));
  }

  wire::ProcessActivitySignal signal_ = wire::ProcessActivitySignal::kTraffic;
};

TEST_F(WorkBesideLinesTest, AnEvaluationThatWritesNoLinesIsWaitedFor) {
  HearWork(400, 398, 399);
  EXPECT_FALSE(Judge(400).has_value());
  const std::optional<Standstill> measure =
      progress_.Measure(thresholds_, learning_, absl::Seconds(400));
  EXPECT_NE(measure->why.find("all training processes still work"), std::string::npos)
      << measure->why;
  // Half of the threshold without work of one of them, and it is over.
  EXPECT_FALSE(Judge(398 + 149).has_value());
  EXPECT_TRUE(Judge(398 + 150).has_value());
}

TEST_F(WorkBesideLinesTest, AHangIsNoticedAsSoonAsBefore) {
  // What was under way when the last line came is seen a little later.
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
  // Nor does one of which nothing is known.
  HearWork(400, 400, -1);
  EXPECT_TRUE(Judge(400).has_value());
  // One that has gone has no part in it.
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
        heartbeat.activity = wire::ProcessActivity{.signal = wire::ProcessActivitySignal::kTraffic,
                                                   .advances = static_cast<int64_t>(at),
                                                   .since_advance = absl::Seconds(now - at),
                                                   .longest = longest_};
      }
      advanced_ = progress_.Observe({0, task}, kAgent, heartbeat, absl::Seconds(now));
    }
  }
  std::optional<Standstill> Judge(double seconds) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(seconds));
  }

  absl::Duration longest_ = absl::Seconds(5);
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
  progress_.Observe({0, 0}, kAgent, heartbeat, absl::Seconds(1300));
  EXPECT_FALSE(Judge(1599).has_value());
  ASSERT_TRUE(Judge(1600).has_value());
  EXPECT_EQ(Judge(1600)->noticed_by, "steps that the log tells");
}

TEST_F(StepsTest, ARuntimeThatAnswersIsBelievedRatherThanPages) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = "p";
  heartbeat.runtime.state = RuntimeState::kServing;
  heartbeat.progress = rapideye::Progress{.step = 500, .phase = Phase::kStep};
  EXPECT_FALSE(progress_.Observe({0, 0}, kAgent, heartbeat, absl::Seconds(105)));
  EXPECT_EQ(progress_.LastCompletion(), absl::Seconds(100));
}

}  // namespace
}  // namespace rapideye::coordinator

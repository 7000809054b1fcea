#include "coordinator/core/progress.h"

#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr int64_t kAgentOfWorker = 7;

// One worker's heartbeats, told in absolute times.
struct Worker {
  WorkerId id;
  int64_t agent = kAgentOfWorker;
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

// Workers 1 and later stand in a launch since 100 s; worker 0 completes a launch each second, as a
// worker does that lies, or that runs a program of its own.
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

TEST_F(OneAdvancesTest, NorDoesOneWhoseRuntimeDoesNotAnswer) {
  const double twice = 100 + 2 * absl::ToDoubleSeconds(kMinLaunchThreshold);
  const auto stand = [this](int workers, double until) {
    Stand(workers, /*advancing=*/1, until);
    Worker silent{.id = {0, 0}, .completed = 30, .last_completion = absl::Seconds(until)};
    wire::Heartbeat heartbeat = silent.At(absl::Seconds(until));
    heartbeat.runtime.state = RuntimeState::kUnavailable;
    progress_.Observe(silent.id, silent.agent, heartbeat, absl::Seconds(until));
  };
  stand(/*workers=*/4, twice - 0.1);
  EXPECT_FALSE(Judge(twice - 0.1).has_value());
  stand(/*workers=*/4, twice);
  ASSERT_TRUE(Judge(twice).has_value());
  EXPECT_TRUE(Judge(twice)->most_stand);
  EXPECT_NE(Judge(twice)->why.find("runtimes do not answer"), std::string::npos);
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
  // The invented workers advance while the others stand.
  Stand(kAll, kGhosts, 200);
  EXPECT_TRUE(Judge(200).has_value());
  // These workers connect from addresses of their own: they are the job.
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

// The worker stands as the others do until the coordinator looks.
TEST_F(OneAdvancesTest, FewThatCompleteBetweenTheLooksOutweighNobodyOnceMostHaveStoodForLong) {
  Stand(/*workers=*/4, /*advancing=*/0, 111);
  ASSERT_TRUE(Judge(111).has_value());
  EXPECT_FALSE(Judge(111)->most_stand);
  ASSERT_TRUE(Judge(120).has_value());
  EXPECT_TRUE(Judge(120)->most_stand);
  // One worker completes just enough launches for its standstill to be short.
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
  // One standing worker against one that advances is no majority, however many are idle.
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
  progress_.Observe(pausing.id, kAgentOfWorker, heartbeat, absl::Seconds(200));
  EXPECT_FALSE(Judge(200).has_value());
  // The pause is not waited for without end.
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
  fresh.Observe(worker.id, kAgentOfWorker, worker.At(absl::Seconds(100)), absl::Seconds(100));
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
  progress_.Observe(worker.id, kAgentOfWorker, delayed, absl::Seconds(107));
  EXPECT_TRUE(Judge(110).has_value());
}

TEST_F(ProgressTest, AdvancedComparesWithinOneAgentAndProcess) {
  Worker worker = workers_[0];
  const absl::Duration now = absl::Seconds(102);
  EXPECT_FALSE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
  worker.completed = 11;
  EXPECT_TRUE(progress_.Advanced(worker.id, worker.agent, worker.At(now)));
  // A new agent counts anew: its numbers cannot be compared.
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

}  // namespace
}  // namespace rapideye::coordinator

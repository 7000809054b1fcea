// A job that starts, and workers of it that do not come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kGrace = absl::Minutes(1);

// Four workers without chips, pages or steps in their logs, of which three have come.
class StartUpTest : public ::testing::Test {
 protected:
  StartUpTest() : job_(WithGrace(), 0, 0) {
    for (int task = 0; task < 3; ++task) Come(task);
  }

  static Options WithGrace() {
    Options options = Quick();
    options.thresholds.startup_grace = kGrace;
    return options;
  }

  void Come(int task) {
    FakeAgent& agent = job_.Add({0, task});
    agent.hello.slices = 1;
    agent.hello.tasks_per_slice = 4;
    agent.runtime = RuntimeState::kUnavailable;
    agent.advancing = false;
    agent.in_flight = false;
    job_.Connect(agent);
  }

  JobStatus Status() {
    job_.Step(StatusRequested{.ticket = 7});
    return job_.statuses().back().status;
  }

  FakeJob job_;
};

TEST_F(StartUpTest, WhoHasNotComeIsMissedWhenTheGraceEnds) {
  job_.Run(kGrace - absl::Seconds(1));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(5)));
  const CaptureHeader& header = job_.concluded()[0].capture.header;
  EXPECT_EQ(header.trigger, "no-progress");
  EXPECT_EQ(header.startup_grace_ms, absl::ToInt64Milliseconds(kGrace));
  EXPECT_GE(header.starting_ms, header.startup_grace_ms);
  ASSERT_THAT(header.expected_workers, SizeIs(4));
  EXPECT_EQ(header.expected_workers[3].host, "");
}

TEST_F(StartUpTest, AJobThatIsCompleteIsNotMissed) {
  Come(3);
  job_.Run(10 * kGrace);
  EXPECT_EQ(job_.core().counters().suspicions, 0);
}

// Four processes, of which nothing shows a step.
class IdleStartTest : public StartUpTest {
 protected:
  IdleStartTest() { Come(3); }

  // A heartbeat of each worker: the fourth has only waited for `fourth` (absent: it does not tell),
  // the others for as long as `others`.
  void Wait(absl::Duration others, std::optional<absl::Duration> fourth) {
    for (int task = 0; task < 4; ++task) {
      wire::Heartbeat heartbeat;
      heartbeat.process_incarnation = "p1";
      heartbeat.start_up.emplace().process_ms = 1'000;
      heartbeat.since_any_work = task < 3 ? std::optional(others) : fourth;
      job_.Say(job_.at(0, task), heartbeat);
    }
  }

  // The fourth works, as long as this takes, while the others wait.
  void WorkFor(absl::Duration time, absl::Duration others) {
    for (absl::Duration at; at < time; at += absl::Seconds(5)) {
      Wait(others, absl::ZeroDuration());
      job_.Run(absl::Seconds(5));
    }
  }
};

TEST_F(IdleStartTest, AJobThatOnlyWaitsFromItsStartIsMissed) {
  WorkFor(absl::Seconds(90), absl::ZeroDuration());
  EXPECT_EQ(job_.core().counters().suspicions, 0);  // they may compile
  const absl::Duration nearly = kGrace / 2 - absl::Seconds(1);
  Wait(nearly, nearly);
  job_.Run(absl::Milliseconds(900));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(2)));
  EXPECT_EQ(job_.concluded()[0].capture.header.trigger, "no-progress");
  EXPECT_EQ(job_.concluded()[0].capture.header.noticed_by, "work of the processes");
}

TEST_F(IdleStartTest, WithinTheGraceNothingIsMissed) {
  Wait(kGrace, kGrace);
  job_.Run(kGrace - absl::Seconds(2));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
}

TEST_F(IdleStartTest, AWorkerThatDoesNotTellMayWorkAndSilencesNobody) {
  job_.Run(kGrace / 2);
  Wait(absl::ZeroDuration(), std::nullopt);
  job_.Run(kGrace - absl::Seconds(2));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  Wait(kGrace, std::nullopt);
  EXPECT_TRUE(job_.RunUntilConclude(absl::Seconds(10)));
}

// The others wait for its data, or its compilation.
TEST_F(IdleStartTest, OneThatWorksWhileTheOthersWaitIsNoExcuseForEver) {
  WorkFor(2.9 * kGrace, kGrace);
  EXPECT_EQ(job_.core().counters().suspicions, 0);
  WorkFor(0.3 * kGrace, kGrace);
  EXPECT_EQ(job_.core().counters().suspicions, 1);
}

TEST_F(IdleStartTest, ThoseThatWorkAreNotMissed) {
  WorkFor(5 * kGrace, absl::Seconds(20));
  EXPECT_EQ(job_.core().counters().suspicions, 0);
}

TEST_F(StartUpTest, WhatTurnedOutToBeNoneIsLookedAtAgainAfterAnotherGrace) {
  ASSERT_TRUE(job_.RunUntilConclude(2 * kGrace));
  job_.Concluded(/*hang=*/false);
  job_.Run(kGrace - absl::Seconds(5));
  EXPECT_THAT(job_.concluded(), SizeIs(1));
  EXPECT_TRUE(job_.RunUntilConclude(absl::Seconds(10)));
}

TEST_F(StartUpTest, OnceEverybodyHasComeTheJobIsWatchedAgain) {
  ASSERT_TRUE(job_.RunUntilConclude(2 * kGrace));
  job_.Concluded();
  EXPECT_EQ(Status().activity, Activity::kWaiting);
  Come(3);
  EXPECT_EQ(Status().activity, Activity::kLearning);
}

TEST_F(StartUpTest, StatusSaysWhoHasNotCome) {
  job_.Run(absl::Seconds(30));
  JobStatus status = Status();
  EXPECT_GE(status.starting, absl::Seconds(30));
  ASSERT_THAT(status.not_come, SizeIs(1));
  EXPECT_EQ(status.not_come[0].id, (WorkerId{0, 3}));
  EXPECT_EQ(status.not_come_count, 1U);
  EXPECT_THAT(status.without_process, IsEmpty());
  Come(3);
  EXPECT_THAT(Status().not_come, IsEmpty());
}

TEST_F(StartUpTest, StatusSaysInWhichPhaseWorkersAreAndWhatKeepsThem) {
  Come(3);
  for (int task = 0; task < 4; ++task) {
    wire::Heartbeat heartbeat;
    heartbeat.process_incarnation = "p1";
    heartbeat.start_up.emplace().process_ms = 1'000;
    if (task < 3) heartbeat.start_up->device_ms = 500;
    if (task == 3) {
      Obstacle& obstacle = heartbeat.start_up->obstacles.emplace_back();
      obstacle.kind = ObstacleKind::kNoDriver;
      obstacle.subject = "0000:05:00.0";
    }
    job_.Say(job_.at(0, task), heartbeat);
  }
  const JobStatus status = Status();
  ASSERT_THAT(status.phases, SizeIs(2));
  EXPECT_EQ(status.phases[0], (std::pair<std::string, size_t>("with a training process", 1)));
  EXPECT_EQ(status.phases[1].second, 3U);
  ASSERT_THAT(status.behind, SizeIs(1));
  EXPECT_EQ(status.behind[0].id, (WorkerId{0, 3}));
  EXPECT_EQ(status.behind[0].start_up,
            "with a training process; no kernel driver is bound to the TPU at "
            "0000:05:00.0");
}

TEST_F(StartUpTest, AfterALaunchTheJobHasStarted) {
  job_.at(0, 0).runtime = RuntimeState::kServing;
  job_.at(0, 0).advancing = true;
  job_.Run(absl::Seconds(30));
  EXPECT_FALSE(Status().starting.has_value());
  EXPECT_THAT(Status().not_come, IsEmpty());
}

TEST_F(StartUpTest, OneLiarInventsNobody) {
  Come(3);
  FakeAgent& liar = job_.Add({0, 4});
  liar.hello.slices = 1;
  liar.hello.tasks_per_slice = 100;
  liar.runtime = RuntimeState::kUnavailable;
  liar.advancing = false;
  job_.Connect(liar);
  job_.Run(10 * kGrace);
  EXPECT_THAT(Status().not_come, IsEmpty());
  EXPECT_EQ(job_.core().counters().suspicions, 0);
}

}  // namespace
}  // namespace rapideye::coordinator

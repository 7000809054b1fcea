// Tests of the evidence that counts as recovery from a hang, and of the end of an incident
// that no worker answers.
#include <gtest/gtest.h>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

// One of four workers has died; the others are about to complete their queued launches.
FakeJob ConcludedOnAWord() {
  FakeJob job = Frozen();
  job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(absl::Seconds(1));
  EXPECT_EQ(job.concluded().size(), 1u);
  job.Concluded();
  job.Thaw();
  job.at(0, 3).advancing = false;
  return job;
}

// No runtime answers, and nothing was launched.
void SilenceRuntimes(FakeJob& job) {
  for (auto& [id, agent] : job.agents()) {
    agent.runtime = RuntimeState::kUnavailable;
    agent.advancing = agent.in_flight = false;
    agent.completed = 0;
  }
}

TEST(Recovery, AWordIsLookedAtThoughNothingWasEverLaunched) {
  FakeJob job(Quick(), 1, 4);
  SilenceRuntimes(job);
  job.Run(absl::Seconds(20));
  EXPECT_TRUE(job.concluded().empty());
  job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(absl::Seconds(2));
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 4u);
}

// The leader's host takes the coordinator with it. The next coordinator hears of it from the agents
// that are left, which send again the alarms for which no evidence was collected.
TEST(Recovery, TheNextCoordinatorLearnsOfADeathThatTookTheOneBeforeAlong) {
  FakeJob job(Quick(), 1, 4);
  SilenceRuntimes(job);
  job.Run(absl::Seconds(20));
  job.RestartCoordinator();
  for (int task = 1; task < 4; ++task) job.Connect(job.at(0, task));
  job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 6"});
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(5)));
  const Capture& capture = job.concluded()[0].capture;
  EXPECT_EQ(capture.header.expected_workers.size(), 4u);
  EXPECT_EQ(capture.snapshots.size(), 3u);
}

// Of two workers the one that is left is no majority: the coordinator waits for the other.
TEST(Recovery, LikewiseOfASmallJobOnceTheOthersHadTheTimeToCome) {
  FakeJob job(Quick(), 1, 2);
  SilenceRuntimes(job);
  job.Run(absl::Seconds(20));
  job.RestartCoordinator();
  job.Connect(job.at(0, 1));
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 6"});
  job.Run(kSettleTime - absl::Seconds(1));
  EXPECT_TRUE(job.concluded().empty());
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(5)));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 1u);
}

TEST(Recovery, WhatWorkersHadQueuedIsNone) {
  FakeJob job = ConcludedOnAWord();
  job.Run(absl::Seconds(2));
  job.Freeze();
  job.Run(absl::Minutes(1));
  for (const Conclude& conclude : job.concluded()) {
    EXPECT_EQ(conclude.incident_id, job.concluded()[0].incident_id);
  }
  EXPECT_FALSE(job.Logged("watching again"));
}

// A worker's alarm may be wrong, and the job may hang for another reason before it has gone on long
// enough to count as recovered: the evidence was of a job that did not stand.
TEST(Recovery, AStandstillAfterTheEvidenceOfAWordIsLookedAtOnce) {
  FakeJob job = ConcludedOnAWord();
  job.Run(absl::Seconds(2));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  ASSERT_EQ(job.concluded().size(), 2u);
  EXPECT_TRUE(job.concluded()[1].again);
  EXPECT_EQ(job.concluded()[1].incident_id, job.concluded()[0].incident_id);
  job.Step(IncidentConcluded{.incident_id = job.concluded()[0].incident_id, .hang = true});
  job.Run(absl::Hours(1));
  EXPECT_EQ(job.concluded().size(), 2u);
}

TEST(Recovery, AStandstillThatTheEvidenceShowedIsNotLookedAtAgain) {
  FakeJob job = Frozen();
  job.Freeze();
  job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Concluded();
  job.Run(absl::Hours(1));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recovery, WhoGoesOnForLongHasRecovered) {
  FakeJob job = ConcludedOnAWord();
  job.Run(absl::Seconds(6));
  EXPECT_TRUE(job.Logged("watching again"));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
}

// All but the first worker were cut off while the job still advanced.
FakeJob ConcludedWithOne() {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  for (int task = 1; task < 4; ++task) job.Disconnect(job.at(0, task));
  job.at(0, 0).advancing = false;
  job.Run(absl::Seconds(2));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Concluded();
  return job;
}

// A worker that was cut off has gone on meanwhile: the job now stands anew.
TEST(Recovery, AStandstillAfterTheEvidenceOfAFewIsLookedAtOnce) {
  FakeJob job = ConcludedWithOne();
  job.at(0, 1).advancing = true;
  job.Connect(job.at(0, 1));
  job.Run(absl::Seconds(3));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  ASSERT_EQ(job.concluded().size(), 2u);
  EXPECT_TRUE(job.concluded()[1].again);
  EXPECT_EQ(job.concluded()[1].incident_id, job.concluded()[0].incident_id);
  EXPECT_EQ(job.concluded()[1].capture.snapshots.size(), 2u);
  job.Step(IncidentConcluded{.incident_id = job.concluded()[0].incident_id, .hang = true});
  job.Run(absl::Hours(1));
  EXPECT_EQ(job.concluded().size(), 2u);
}

TEST(Recovery, WhatWasCompletedBeforeAndIsToldLateIsNone) {
  FakeJob job = ConcludedWithOne();
  for (int task = 1; task < 4; ++task) job.Connect(job.at(0, task));
  job.Run(absl::Minutes(1));
  EXPECT_FALSE(job.Logged("watching again"));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recovery, WhatIsCompletedAfterwardsIsOne) {
  FakeJob job = ConcludedWithOne();
  for (int task = 1; task < 4; ++task) job.Connect(job.at(0, task));
  job.Thaw();
  job.Run(absl::Seconds(2));
  EXPECT_TRUE(job.Logged("watching again"));
}

// Half of the workers restarted, and hung again, while the others were cut off.
FakeJob ConcludedAfterHalfARestart() {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  for (int task = 2; task < 4; ++task) job.Disconnect(job.at(0, task));
  for (auto& [id, agent] : job.agents()) {
    agent.process = "p2";
    agent.completed = 0;
    agent.last_completion.reset();
  }
  job.Run(absl::Seconds(5));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Concluded();
  return job;
}

TEST(Recovery, ARestartFromBeforeTheIncidentIsNone) {
  FakeJob job = ConcludedAfterHalfARestart();
  job.ConnectAll();
  job.Run(absl::Minutes(1));
  EXPECT_TRUE(job.Logged("the job has restarted"));
  EXPECT_FALSE(job.Logged("watching again"));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recovery, ARestartAfterTheIncidentIsOne) {
  FakeJob job = ConcludedAfterHalfARestart();
  job.ConnectAll();
  for (auto& [id, agent] : job.agents()) agent.process = "p3";
  job.Run(absl::Seconds(5));
  EXPECT_TRUE(job.Logged("watching again"));
}

// The same, where the platform counts the attempts and agents restart with the job.
FakeJob ConcludedAfterHalfAnAttempt() {
  FakeJob job(Quick(), 1, 4);
  const auto next = [](FakeAgent& agent, const std::string& attempt) {
    agent.hello.job_incarnation = attempt;
    agent.process = "p" + attempt;
    ++agent.hello.agent_incarnation;
    agent.completed = 0;
    agent.last_completion.reset();
  };
  for (auto& [id, agent] : job.agents()) {
    job.Disconnect(agent);
    next(agent, "1");
  }
  job.ConnectAll();
  job.Run(absl::Seconds(20));
  for (auto& [id, agent] : job.agents()) {
    job.Disconnect(agent);
    next(agent, "2");
  }
  for (int task = 0; task < 2; ++task) job.Connect(job.at(0, task));
  job.Run(absl::Seconds(5));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Concluded();
  return job;
}

TEST(Recovery, AnAttemptFromBeforeTheIncidentIsNone) {
  FakeJob job = ConcludedAfterHalfAnAttempt();
  job.ConnectAll();
  job.Run(absl::Minutes(1));
  EXPECT_TRUE(job.Logged("the job has restarted"));
  EXPECT_FALSE(job.Logged("watching again"));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recovery, AnAttemptAfterTheIncidentIsOne) {
  FakeJob job = ConcludedAfterHalfAnAttempt();
  for (auto& [id, agent] : job.agents()) {
    if (agent.stream != 0) job.Disconnect(agent);
    agent.hello.job_incarnation = "3";
    agent.process = "p3";
    ++agent.hello.agent_incarnation;
  }
  job.ConnectAll();
  job.Run(absl::Seconds(5));
  EXPECT_TRUE(job.Logged("watching again"));
}

TEST(Incidents, EndAtTheirDeadlineThoughEveryStreamIsGone) {
  FakeJob job = Frozen();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  ASSERT_EQ(job.core().counters().suspicions, 1);
  // The last stream ends while the second round waits for its time.
  for (int task = 0; task < 4; ++task) job.Disconnect(job.at(0, task));
  EXPECT_LE(job.core().NextWake(job.now().monotonic), job.now().monotonic + kRoundInterval);
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(15)));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 3u);
  EXPECT_EQ(job.core().NextWake(job.now().monotonic), absl::InfiniteDuration());
}

// The first agent that finds a new coordinator reports how its process ended.
TEST(Incidents, AnAlarmWaitsForThoseWhoMayStillCome) {
  FakeJob job = Frozen();
  job.RestartCoordinator();
  job.Connect(job.at(0, 1));
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(absl::Seconds(3));
  EXPECT_EQ(job.core().counters().suspicions, 0);
  job.ConnectAll();
  job.Run(absl::Seconds(1));
  EXPECT_EQ(job.core().counters().suspicions, 1);
}

TEST(Incidents, AnAlarmDoesNotWaitForTheLast) {
  FakeJob job = Frozen();
  job.RestartCoordinator();
  for (int task = 0; task < 3; ++task) job.Connect(job.at(0, task));
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(absl::Seconds(1));
  EXPECT_EQ(job.core().counters().suspicions, 1);
}

TEST(Incidents, AnAlarmDoesNotWaitForEver) {
  FakeJob job = Frozen();
  job.RestartCoordinator();
  job.Connect(job.at(0, 1));
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(kSettleTime + absl::Seconds(1));
  EXPECT_EQ(job.core().counters().suspicions, 1);
}

TEST(Incidents, NobodyAnsweredIsNoHang) {
  FakeJob job = Frozen();
  for (auto& [id, agent] : job.agents()) agent.answers = false;
  job.Run(absl::Seconds(16));
  ASSERT_GE(job.core().counters().suspicions, 1);
  EXPECT_TRUE(job.concluded().empty());
  EXPECT_TRUE(job.Logged("no worker answered"));
  // Once a worker answers, the incident gets its digest.
  job.at(0, 0).answers = true;
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(30)));
}

}  // namespace
}  // namespace rapideye::coordinator

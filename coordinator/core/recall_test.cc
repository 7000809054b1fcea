// A coordinator that dies and comes back, at every step of an incident: nothing
// is lost, and nothing is told of twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

// The same job once the evidence is complete.
FakeJob Collected() {
  FakeJob job = Frozen();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  return job;
}

std::string IncidentOf(const FakeJob& job) { return job.concluded().back().incident_id; }

TEST(Recall, KilledBeforeTheAlarmRaisesItAfterwards) {
  FakeJob job = Frozen();
  job.Run(absl::Seconds(2));
  job.RestartCoordinator();
  job.ConnectAll();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  EXPECT_EQ(job.core().counters().recalled, 0);
}

// Four agents that lie would otherwise silence their job for good.
TEST(Recall, WhatThisDiskDoesNotHaveIsNotBelievedForEver) {
  FakeJob job = Frozen();
  for (auto& [id, agent] : job.agents()) {
    agent.memory = wire::IncidentMemory{"20260101T000000Z-00000000", true, agent.process};
  }
  job.RestartCoordinator();
  job.ConnectAll();
  EXPECT_FALSE(job.RunUntilConclude(kBelieveUnwritten - absl::Seconds(10)));
  EXPECT_TRUE(job.Logged("20260101T000000Z-00000000 was concluded before"));
  EXPECT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_TRUE(job.Logged("this disk does not have the incident"));
}

TEST(Recall, KilledDuringTheFirstRoundCollectsAgainUnderTheSameName) {
  FakeJob job = Frozen();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4) + absl::Milliseconds(500));
  ASSERT_EQ(job.core().counters().suspicions, 1);
  const std::string incident = job.at(0, 0).memory->incident;
  job.at(0, 3).answers = true;
  job.RestartCoordinator();
  job.ConnectAll();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(3)));
  EXPECT_EQ(IncidentOf(job), incident);
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 4u);
  EXPECT_EQ(job.core().counters().recalled, 1);
}

TEST(Recall, KilledBetweenTheCollectsOfAMinorityNamesItAnew) {
  FakeJob job = Frozen();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4) + absl::Milliseconds(500));
  const std::string incident = job.at(0, 0).memory->incident;
  job.at(0, 3).answers = true;
  // Only half of the agents had been reached.
  job.at(0, 2).memory.reset();
  job.at(0, 3).memory.reset();
  job.RestartCoordinator();
  job.ConnectAll();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(15)));
  EXPECT_NE(IncidentOf(job), incident);
  job.Concluded();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recall, KilledBeforeItWasWrittenCollectsAgainUnderTheSameName) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.RestartCoordinator();
  job.ConnectAll();
  job.Step(IncidentsOnDisk{{"20260131T235959Z-0123abcd"}});  // an older one
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  EXPECT_EQ(IncidentOf(job), incident);
  job.Concluded();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 2u);  // the first one never got anywhere
}

TEST(Recall, KilledBetweenDiskAndLogRepeatsTheDigestAndWritesNothing) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  job.ConnectAll();
  job.Run(absl::Seconds(2));
  ASSERT_EQ(job.retold().size(), 1u);
  EXPECT_EQ(job.retold()[0], incident);
  EXPECT_FALSE(job.at(0, 0).memory->concluded);
  job.Step(IncidentConcluded{.incident_id = incident, .hang = true});
  EXPECT_TRUE(job.at(0, 0).memory->concluded);
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.retold().size(), 1u);
}

TEST(Recall, DigestThatCannotBeReadAgainIsCollectedAgain) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  job.ConnectAll();
  job.Run(absl::Seconds(2));
  ASSERT_EQ(job.retold().size(), 1u);
  job.Step(IncidentUnreadable{incident});
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  EXPECT_EQ(IncidentOf(job), incident);
}

TEST(Recall, DamagedIncidentIsCollectedUnderAnotherName) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  job.ConnectAll();
  job.Run(absl::Seconds(2));
  ASSERT_EQ(job.retold().size(), 1u);
  job.Step(IncidentUnreadable{.incident_id = incident, .damaged = true});
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(6)));
  // The disk takes a name only once: under the old one the evidence would be lost.
  EXPECT_NE(IncidentOf(job), incident);
  job.Concluded();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.retold().size(), 1u);
}

TEST(Recall, KilledAfterTheDigestWaitsForRecovery) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Concluded();
  EXPECT_TRUE(job.at(0, 0).memory->concluded);
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  job.ConnectAll();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
  EXPECT_TRUE(job.retold().empty());
  // The next hang is an incident of its own.
  job.Thaw();
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  EXPECT_NE(IncidentOf(job), incident);
}

TEST(Recall, TheStatusTellsWhatTheDigestOnDiskSays) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Concluded();
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{.ids = {incident}, .verdicts = {{incident, {.cause = "BAD_TPU_CHIP"}}}});
  job.ConnectAll();
  job.Run(absl::Seconds(10));
  job.Step(StatusRequested{1});
  const JobStatus& status = job.statuses().back().status;
  EXPECT_EQ(status.activity, Activity::kWaiting);
  ASSERT_TRUE(status.last_verdict.has_value());
  EXPECT_EQ(status.last_verdict->cause, "BAD_TPU_CHIP");
}

TEST(Recall, KilledWhileTellingThatItIsConcludedTellsTheRest) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Concluded();
  job.at(0, 2).memory->concluded = false;
  job.at(0, 3).memory->concluded = false;
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  job.ConnectAll();
  job.Run(absl::Seconds(2));
  ASSERT_EQ(job.retold().size(), 1u);
  job.Step(IncidentConcluded{.incident_id = incident, .hang = true});
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recall, JobThatRecoveredMeanwhileIsLeftAlone) {
  FakeJob job = Collected();
  job.RestartCoordinator();
  for (auto& [id, agent] : job.agents()) agent.memory.reset();  // launches completed
  job.Thaw();
  job.ConnectAll();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.core().counters().suspicions, 0);
}

TEST(Recall, TheEndThatTheOneBeforeDidNotSeeIsSaidOnce) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.RestartCoordinator();
  for (auto& [id, agent] : job.agents()) agent.memory.reset();  // launches completed
  job.Step(IncidentsOnDisk{.ids = {incident}, .open = incident});
  job.Thaw();
  job.Connect(job.at(0, 0));
  job.Run(absl::Seconds(5));
  EXPECT_TRUE(job.ended().empty());  // one of four is no majority
  job.ConnectAll();
  job.Run(absl::Minutes(2));
  ASSERT_EQ(job.ended().size(), 1u);
  EXPECT_EQ(job.ended()[0].incident.id, incident);
}

TEST(Recall, WhatStillStandsHasNotEnded) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Concluded();
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{.ids = {incident}, .open = incident});
  job.ConnectAll();
  job.Run(absl::Minutes(10));
  EXPECT_TRUE(job.ended().empty());
  job.Thaw();
  job.Run(absl::Seconds(20));
  ASSERT_EQ(job.ended().size(), 1u);
  EXPECT_EQ(job.ended()[0].incident.id, incident);
  EXPECT_THAT(job.ended()[0].incident.why, ::testing::HasSubstr("complete launches again"));
}

TEST(Recall, AnotherIncidentEndsTheOneThatWasLeftOpen) {
  FakeJob job = Frozen();
  job.RestartCoordinator();
  job.Step(
      IncidentsOnDisk{.ids = {"20260131T235959Z-0123abcd"}, .open = "20260131T235959Z-0123abcd"});
  job.ConnectAll();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(15)));
  EXPECT_TRUE(job.ended().empty());
  job.Concluded();
  ASSERT_EQ(job.ended().size(), 1u);
  EXPECT_EQ(job.ended()[0].incident.id, "20260131T235959Z-0123abcd");
}

TEST(Recall, WhatThisDiskDoesNotHaveHasNoEnd) {
  FakeJob job = Collected();
  job.Concluded();
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{});
  job.ConnectAll();
  job.Run(kBelieveUnwritten - absl::Seconds(20));
  EXPECT_EQ(job.core().counters().recalled, 1);
  job.Run(absl::Minutes(1));
  EXPECT_TRUE(job.Logged("this disk does not have the incident"));
  EXPECT_TRUE(job.ended().empty());
}

TEST(Recall, JobThatRestartedMeanwhileIsLeftAlone) {
  FakeJob job = Collected();
  job.Concluded();
  job.RestartCoordinator();
  // The agents say Hello before they have seen that the processes are others.
  for (auto& [id, agent] : job.agents()) {
    agent.process = "p2";
    agent.completed = 0;
    agent.last_completion.reset();
  }
  job.ConnectAll();
  job.Thaw();
  job.Run(absl::Seconds(20));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));  // nothing suppresses it
  EXPECT_EQ(job.core().counters().recalled, 0);
}

TEST(Recall, OneLiarNeitherSuppressesNorDoubles) {
  FakeJob job = Frozen();
  job.RestartCoordinator();
  job.at(0, 0).memory = {"20260131T235959Z-0123abcd", true, "p1"};
  job.ConnectAll();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(15)));
  EXPECT_EQ(job.core().counters().recalled, 0);
  job.Concluded();
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{IncidentOf(job)}});
  job.at(0, 0).memory->concluded = false;
  job.ConnectAll();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recall, AlarmOfTheSameHangWaitsUntilTheMemoriesAreKnown) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Concluded();
  job.RestartCoordinator();
  job.Step(IncidentsOnDisk{{incident}});
  FakeAgent& first = job.at(0, 0);
  job.Connect(first);
  job.Say(first, wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 6"});
  job.Run(absl::Seconds(1));
  EXPECT_EQ(job.core().counters().suspicions, 0);
  job.ConnectAll();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recall, AbortedProcessesAreNoReasonToCollectTwice) {
  FakeJob job = Collected();
  job.Concluded();
  for (auto& [id, agent] : job.agents()) agent.runtime = RuntimeState::kUnavailable;
  job.RestartCoordinator();
  job.ConnectAll();
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 6"});
  job.Run(absl::Minutes(2));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(Recall, StopInTheMiddleTellsTheAgentsBeforeItCloses) {
  FakeJob job = Collected();
  const std::string incident = IncidentOf(job);
  job.Step(Stop{});
  EXPECT_FALSE(job.at(0, 0).closed.has_value());
  job.Step(StreamOpened{.stream = 900, .peer = "late"});
  job.Concluded();
  EXPECT_TRUE(job.core().Finished());
  EXPECT_TRUE(absl::IsUnavailable(*job.at(0, 0).closed));
  EXPECT_EQ(job.at(0, 0).memory, (wire::IncidentMemory{incident, true, "p1"}));
}

TEST(Recall, AgentsOfTheOldProtocolAreNotTold) {
  FakeJob job(Quick(), 1, 2);
  FakeAgent& old = job.at(0, 1);
  job.Disconnect(old);
  old.hello.protocol_version = 1;
  job.Connect(old);
  EXPECT_EQ(std::get<wire::Welcome>(old.inbox.back()).protocol_version, 1);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 2u);
  job.Concluded();
  EXPECT_TRUE(std::holds_alternative<wire::Concluded>(job.at(0, 0).inbox.back()));
  EXPECT_FALSE(std::holds_alternative<wire::Concluded>(old.inbox.back()));
}

}  // namespace
}  // namespace rapideye::coordinator

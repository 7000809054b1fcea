// Tests of requests of operators to the core: the state of the job, and a snapshot on demand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JobStatus StatusOf(FakeJob& job) {
  job.Step(StatusRequested{.ticket = 7});
  EXPECT_EQ(job.statuses().back().ticket, 7);
  return job.statuses().back().status;
}

// The rounds take half a second, and the time that agents need to answer.
constexpr absl::Duration kRounds = absl::Seconds(1);

// Status -----------------------------------------------------------------------

// Four workers of one chip each; the alarm comes 4 s after the last launch.
TEST(Losses, CountFromTheLastProgressUntilTheJobGoesOn) {
  FakeJob job = Frozen();
  EXPECT_EQ(StatusOf(job).losses.hung, absl::ZeroDuration());
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_GE(job.concluded()[0].detection, absl::Seconds(4));
  EXPECT_LE(job.concluded()[0].detection, absl::Seconds(6));
  EXPECT_EQ(StatusOf(job).losses.hung, absl::ZeroDuration());  // the standstill may be no hang
  job.Concluded();
  const Losses at_the_digest = StatusOf(job).losses;
  EXPECT_GE(at_the_digest.hung, absl::Seconds(4));
  EXPECT_EQ(at_the_digest.of_chips, 4 * at_the_digest.hung);
  job.Run(absl::Minutes(1));
  EXPECT_EQ(StatusOf(job).losses.hung, at_the_digest.hung + absl::Minutes(1));
  job.Thaw();
  job.Run(absl::Seconds(10));
  ASSERT_TRUE(job.Logged("watching again"));
  ASSERT_EQ(job.ended().size(), 1u);
  EXPECT_EQ(job.ended()[0].incident.id, job.concluded()[0].incident_id);
  EXPECT_EQ(job.ended()[0].job, "job");
  const Losses over = StatusOf(job).losses;
  EXPECT_LE(over.hung, at_the_digest.hung + absl::Minutes(1) + absl::Seconds(3));
  job.Run(absl::Minutes(1));
  EXPECT_EQ(StatusOf(job).losses.hung, over.hung);
}

TEST(Losses, NoHangLosesNothing) {
  FakeJob job = Frozen();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  job.Concluded(/*hang=*/false);
  job.Run(absl::Seconds(1));
  EXPECT_EQ(StatusOf(job).losses.hung, absl::ZeroDuration());
}

TEST(Status, CountsLaunchesAndVersionsOfAgents) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  const JobStatus status = StatusOf(job);
  EXPECT_EQ(status.launches.counts.at(5), 4 * 19);  // one a second of each, but its first
  EXPECT_EQ(status.launches.sum, absl::Seconds(4 * 19));
  ASSERT_EQ(status.agent_versions.size(), 1u);
  EXPECT_EQ(status.agent_versions[0].second, 4u);
}

TEST(CoreStatus, OfACoordinatorThatNobodyHasCalled) {
  FakeJob job(Quick(), 0, 0);
  const JobStatus status = StatusOf(job);
  EXPECT_EQ(status.job, "");
  EXPECT_EQ(status.activity, Activity::kLearning);
  EXPECT_EQ(status.expected, 0u);
  EXPECT_FALSE(status.waiting.has_value());
  EXPECT_FALSE(status.since_completion.has_value());
}

TEST(CoreStatus, OfAHealthyJob) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  const JobStatus status = StatusOf(job);
  EXPECT_EQ(status.job, "job");
  EXPECT_EQ(status.activity, Activity::kArmed);
  EXPECT_EQ(status.expected, 8u);
  EXPECT_EQ(status.connected, 8u);
  EXPECT_EQ(status.running, 8u);
  EXPECT_THAT(status.missing, IsEmpty());
  ASSERT_TRUE(status.waiting.has_value());
  EXPECT_EQ(status.waiting->threshold, absl::Seconds(4));
  EXPECT_LT(status.waiting->still_for, status.waiting->threshold);
  EXPECT_EQ(status.launch_threshold, absl::Seconds(4));
  EXPECT_TRUE(status.launch_threshold_set);
  EXPECT_EQ(status.hang_threshold, kMinHangThreshold);
  EXPECT_FALSE(status.hang_threshold_set);
  EXPECT_EQ(status.longest_launch, absl::Seconds(1));
  ASSERT_THAT(status.cohorts, SizeIs(1));
  EXPECT_EQ(status.cohorts[0].workers, 8u);
  EXPECT_THAT(status.cohorts[0].programs, ElementsAre("aa"));
  EXPECT_FALSE(status.last_incident.has_value());
  EXPECT_EQ(status.counters.hellos_admitted, 8);
}

TEST(CoreStatus, LearnsUntilTheFirstLaunchCompletes) {
  FakeJob job(Quick(), 1, 2);
  job.Freeze();
  job.Run(absl::Seconds(3));
  const JobStatus starting = StatusOf(job);
  EXPECT_EQ(starting.activity, Activity::kLearning);
  ASSERT_TRUE(starting.waiting.has_value());
  EXPECT_EQ(starting.waiting->threshold, absl::Minutes(30));
  job.Thaw();
  job.Run(absl::Seconds(3));
  EXPECT_EQ(StatusOf(job).activity, Activity::kArmed);
}

TEST(CoreStatus, MapsEveryWorkerAndMarksThoseThatAreLateBeforeTheAlarm) {
  FakeJob job(Quick(), 2, 2);
  job.Run(absl::Seconds(20));
  JobStatus status = StatusOf(job);
  ASSERT_THAT(status.workers, SizeIs(4));
  for (const WorkerOnMap& worker : status.workers) {
    EXPECT_EQ(worker.state, WorkerState::kAdvancing) << worker.id.slice << " " << worker.id.task;
  }
  ASSERT_FALSE(status.last_hour.empty());
  EXPECT_GT(status.last_hour[0].launches, 0);
  job.Disconnect(job.at(1, 1));
  job.at(0, 1).advancing = false;
  for (int i = 0; i < 10 && status.workers[1].state != WorkerState::kLate; ++i) {
    job.Run(absl::Seconds(1));
    status = StatusOf(job);
  }
  EXPECT_EQ(status.activity, Activity::kArmed);
  EXPECT_EQ(status.workers[0].state, WorkerState::kAdvancing);
  EXPECT_EQ(status.workers[1].state, WorkerState::kLate);
  EXPECT_EQ(status.workers[1].id, (WorkerId{0, 1}));
  EXPECT_EQ(status.workers[3].state, WorkerState::kAway);
}

TEST(CoreStatus, NamesTheMissingAndTheSlowest) {
  FakeJob job(Quick(), 2, 2);
  job.Run(absl::Seconds(20));
  job.Disconnect(job.at(1, 1));
  job.at(0, 1).advancing = false;
  job.Run(absl::Seconds(2));
  const JobStatus status = StatusOf(job);
  EXPECT_EQ(status.expected, 4u);
  EXPECT_EQ(status.connected, 3u);
  ASSERT_THAT(status.missing, SizeIs(1));
  EXPECT_EQ(status.missing[0].id, (WorkerId{1, 1}));
  EXPECT_EQ(status.missing[0].host, "host-1-1");
  EXPECT_FALSE(status.missing[0].connected);
  ASSERT_THAT(status.slowest, SizeIs(3));
  EXPECT_EQ(status.slowest[0].id, (WorkerId{0, 1}));
  EXPECT_EQ(status.slowest[0].since_completion, absl::Seconds(2));
  EXPECT_EQ(status.slowest[0].fingerprint, "aa");
  EXPECT_EQ(status.slowest[1].since_completion, absl::ZeroDuration());
}

TEST(CoreStatus, NamesOnlyAsManyAsPeopleRead) {
  FakeJob job(Quick(), 3, 8);
  job.Run(absl::Seconds(5));
  for (int task = 0; task < 8; ++task) {
    job.Disconnect(job.at(0, task));
    if (task < 4) job.Disconnect(job.at(1, task));
  }
  const JobStatus status = StatusOf(job);
  EXPECT_EQ(status.connected, 12u);
  EXPECT_THAT(status.missing, SizeIs(kMaxListedWorkers));
  EXPECT_THAT(status.slowest, SizeIs(kMaxListedWorkers));
}

TEST(CoreStatus, FollowsAnIncident) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  EXPECT_EQ(StatusOf(job).activity, Activity::kCollecting);
  job.Run(kRounds);
  EXPECT_EQ(StatusOf(job).activity, Activity::kConcluding);
  job.Concluded();
  job.Run(absl::Seconds(3));
  const JobStatus waiting = StatusOf(job);
  EXPECT_EQ(waiting.activity, Activity::kWaiting);
  ASSERT_TRUE(waiting.last_incident.has_value());
  EXPECT_EQ(*waiting.last_incident, job.concluded().back().incident_id);
  job.Thaw();
  job.Run(absl::Seconds(3));
  EXPECT_EQ(StatusOf(job).activity, Activity::kArmed);
  EXPECT_TRUE(StatusOf(job).last_incident.has_value());
}

TEST(CoreStatus, InAHangCulpritsComeBeforeThoseWhoWaitForThem) {
  FakeJob job(Quick(), 3, 8);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4) + kRounds);
  job.Concluded(/*hang=*/true,
                ToldVerdict{.cause = "BAD_TPU_CHIP", .culprits = {"host-2-7"}, .culprit_hosts = 1});
  job.Run(absl::Seconds(3));
  const JobStatus hang = StatusOf(job);
  ASSERT_EQ(hang.activity, Activity::kWaiting);
  ASSERT_THAT(hang.slowest, SizeIs(kMaxListedWorkers));
  EXPECT_EQ(hang.slowest[0].id, (WorkerId{2, 7}));
  EXPECT_TRUE(hang.slowest[0].accused);
  EXPECT_FALSE(hang.slowest[1].accused);
  job.Thaw();
  job.Run(absl::Seconds(3));
  for (const WorkerStatus& worker : StatusOf(job).slowest) EXPECT_FALSE(worker.accused);
}

// A snapshot on demand -----------------------------------------------------------------

TEST(CoreSnapshot, OfAHealthyJobIsExaminedAndDisturbsNothing) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  job.Step(SnapshotRequested{.ticket = 1});
  job.Run(kRounds, absl::Milliseconds(100));  // launches complete between the rounds
  ASSERT_THAT(job.examined(), SizeIs(1));
  const Examine& examine = job.examined()[0];
  EXPECT_THAT(examine.tickets, ElementsAre(1));
  EXPECT_EQ(examine.capture.header.trigger, "operator");
  EXPECT_EQ(examine.capture.header.hang_threshold_ms, 4000);
  EXPECT_EQ(examine.capture.header.expected_workers.size(), 8u);
  EXPECT_EQ(examine.capture.snapshots.size(), 8u);
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 2);
  // The snapshot begins no incident, and the watch goes on: a hang raises the alarm as ever.
  EXPECT_THAT(job.concluded(), IsEmpty());
  EXPECT_EQ(job.core().counters().suspicions, 0);
  EXPECT_EQ(job.core().counters().snapshots_taken, 1);
  EXPECT_EQ(StatusOf(job).activity, Activity::kArmed);
  job.Freeze();
  job.Run(absl::Milliseconds(4100));
  EXPECT_EQ(job.core().counters().suspicions, 1);
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
}

TEST(CoreSnapshot, IsRefusedWithoutAgents) {
  FakeJob job(Quick(), 1, 1);
  job.Disconnect(job.at(0, 0));
  job.Step(SnapshotRequested{.ticket = 1});
  ASSERT_THAT(job.refused(), SizeIs(1));
  EXPECT_EQ(job.refused()[0].ticket, 1);
  EXPECT_EQ(job.refused()[0].status.code(), absl::StatusCode::kFailedPrecondition);
  job.Connect(job.at(0, 0));
  job.Step(SnapshotRequested{.ticket = 2});
  job.Run(kRounds);
  EXPECT_THAT(job.refused(), SizeIs(1));
  EXPECT_THAT(job.examined(), ElementsAre(Field(&Examine::tickets, ElementsAre(2))));
}

TEST(CoreSnapshot, IsRefusedOnceAllAgentsHaveLeft) {
  FakeJob job(Quick(), 1, 1);
  job.Run(absl::Seconds(5));
  job.at(0, 0).answers = false;
  job.Step(SnapshotRequested{.ticket = 1});
  job.Disconnect(job.at(0, 0));
  ASSERT_THAT(job.refused(), SizeIs(1));
  EXPECT_EQ(job.refused()[0].status.code(), absl::StatusCode::kUnavailable);
}

TEST(CoreSnapshot, IsRefusedIfNobodyAnswers) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(5));
  job.at(0, 0).answers = false;
  job.at(0, 1).answers = false;
  job.Step(SnapshotRequested{.ticket = 1});
  job.Run(absl::Seconds(11));
  ASSERT_THAT(job.refused(), SizeIs(1));
  EXPECT_THAT(std::string(job.refused()[0].status.message()), HasSubstr("no worker answered"));
  // One worker that answers is enough.
  job.at(0, 1).answers = true;
  job.Step(SnapshotRequested{.ticket = 2});
  job.Run(absl::Seconds(20));
  ASSERT_THAT(job.examined(), SizeIs(1));
  EXPECT_THAT(job.examined()[0].capture.snapshots, SizeIs(1));
}

TEST(CoreSnapshot, RequestsShareASnapshotAndSnapshotsKeepTheirDistance) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(5));
  job.Step(SnapshotRequested{.ticket = 1});
  job.Step(SnapshotRequested{.ticket = 2});
  job.Run(kRounds);
  ASSERT_THAT(job.examined(), ElementsAre(Field(&Examine::tickets, ElementsAre(1, 2))));
  job.Step(SnapshotRequested{.ticket = 3});
  job.Run(kSnapshotInterval - kRounds);
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 2);
  job.Run(kRounds + kRounds);
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 4);
  EXPECT_THAT(job.examined().back().tickets, ElementsAre(3));
}

TEST(CoreSnapshot, OnlySoManyRequestsWait) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(5));
  Ticket ticket = 0;
  while (ticket < static_cast<Ticket>(kMaxSnapshotRequests)) {
    job.Step(SnapshotRequested{.ticket = ++ticket});
  }
  EXPECT_THAT(job.refused(), IsEmpty());
  job.Step(SnapshotRequested{.ticket = ++ticket});
  ASSERT_THAT(job.refused(), SizeIs(1));
  EXPECT_EQ(job.refused()[0].ticket, ticket);
  EXPECT_EQ(job.refused()[0].status.code(), absl::StatusCode::kResourceExhausted);
  job.Run(kRounds);
  ASSERT_THAT(job.examined(), SizeIs(1));
  EXPECT_THAT(job.examined()[0].tickets, SizeIs(kMaxSnapshotRequests));
}

TEST(CoreSnapshot, DuringAnIncidentGetsItsDigest) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  job.Step(SnapshotRequested{.ticket = 1});  // while it collects
  job.Run(kRounds);
  ASSERT_THAT(job.concluded(), SizeIs(1));
  job.Step(SnapshotRequested{.ticket = 2});  // while it is concluded
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 2);
  EXPECT_THAT(job.answered(), IsEmpty());
  job.Concluded();
  EXPECT_THAT(job.answered(), ElementsAre(Field(&SnapshotAnswered::ticket, 1),
                                          Field(&SnapshotAnswered::ticket, 2)));
  EXPECT_EQ(job.answered()[0].incident_id, job.concluded()[0].incident_id);
  job.Run(absl::Seconds(10));
  EXPECT_THAT(job.examined(), IsEmpty());
}

TEST(CoreSnapshot, OfASuspicionThatWasNoneGetsASnapshotOfItsOwn) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  job.Step(SnapshotRequested{.ticket = 1});
  job.Thaw();
  job.Run(absl::Seconds(2), absl::Milliseconds(100));
  EXPECT_THAT(job.concluded(), IsEmpty());
  EXPECT_THAT(job.answered(), IsEmpty());
  EXPECT_THAT(job.examined(), ElementsAre(Field(&Examine::tickets, ElementsAre(1))));
}

TEST(CoreSnapshot, OfAnIncidentThatTurnsOutNoHangGetsASnapshotOfItsOwn) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Step(SnapshotRequested{.ticket = 1});
  job.Concluded(/*hang=*/false);
  job.Run(kRounds);
  EXPECT_THAT(job.answered(), IsEmpty());
  EXPECT_THAT(job.examined(), SizeIs(1));
}

TEST(CoreSnapshot, GivesWayToAHang) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Milliseconds(3800));
  job.Step(SnapshotRequested{.ticket = 1});  // the threshold passes between its rounds
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(3), absl::Milliseconds(100)));
  EXPECT_EQ(job.concluded()[0].capture.header.trigger, "no-progress");
  EXPECT_THAT(job.examined(), IsEmpty());
  job.Concluded();
  EXPECT_THAT(job.answered(), ElementsAre(Field(&SnapshotAnswered::ticket, 1)));
}

TEST(CoreSnapshot, OfAJobThatHasItsDigestIsTakenAnewAndRaisesNothing) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  job.Concluded();
  job.Step(SnapshotRequested{.ticket = 1});
  job.Run(absl::Minutes(10));
  EXPECT_THAT(job.examined(), ElementsAre(Field(&Examine::tickets, ElementsAre(1))));
  EXPECT_THAT(job.concluded(), SizeIs(1));
  EXPECT_EQ(StatusOf(job).activity, Activity::kWaiting);
  job.Thaw();
  job.Run(absl::Seconds(3));
  EXPECT_EQ(StatusOf(job).activity, Activity::kArmed);
}

TEST(CoreSnapshot, AnAlarmDuringASnapshotIsNotLost) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.at(0, 0).answers = false;  // the round takes its time
  job.Step(SnapshotRequested{.ticket = 1});
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "the process has exited"});
  EXPECT_EQ(job.core().counters().suspicions, 1);
  job.Freeze();
  job.Run(absl::Seconds(11));
  ASSERT_THAT(job.concluded(), SizeIs(1));
  EXPECT_EQ(job.concluded()[0].capture.header.trigger, "exit");
}

TEST(CoreSnapshot, AfterAJobRestartIsTakenOfTheNewJob) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.at(0, 0).answers = false;
  job.Step(SnapshotRequested{.ticket = 1});
  for (auto& [id, agent] : job.agents()) {
    agent.process = "p2";
    agent.completed = 0;
    agent.answers = true;
  }
  job.Run(absl::Seconds(4));
  EXPECT_EQ(job.core().counters().job_restarts, 1);
  ASSERT_THAT(job.examined(), SizeIs(1));
  for (const Snapshot& snapshot : job.examined()[0].capture.snapshots) {
    EXPECT_EQ(snapshot.incarnation, "p2");
  }
}

TEST(CoreSnapshot, IsRefusedByACoordinatorThatStops) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Step(SnapshotRequested{.ticket = 1});
  job.Step(Stop{});
  job.Step(SnapshotRequested{.ticket = 2});
  EXPECT_THAT(job.refused(),
              ElementsAre(Field(&SnapshotRefused::ticket, 1), Field(&SnapshotRefused::ticket, 2)));
  EXPECT_TRUE(job.core().Finished());
}

TEST(Acknowledged, IsShownOfTheLastIncidentAlone) {
  FakeJob job = Frozen();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(20)));
  job.Concluded();
  const std::string incident = job.concluded().back().incident_id;
  const auto shown = [&] {
    job.Step(StatusRequested{1});
    return job.statuses().back().status.acknowledged;
  };
  EXPECT_FALSE(shown().has_value());
  job.Step(
      IncidentAcknowledged{"20260131T235959Z-0123abcd", {.at = {}, .reason = "", .by = "bob"}});
  EXPECT_FALSE(shown().has_value());
  job.Step(IncidentAcknowledged{incident, {.at = {}, .reason = "known", .by = "ann"}});
  ASSERT_TRUE(shown().has_value());
  EXPECT_EQ(shown()->by, "ann");
  EXPECT_TRUE(job.Logged("acknowledged by ann: known"));
}

}  // namespace
}  // namespace rapideye::coordinator

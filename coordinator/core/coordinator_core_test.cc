#include "coordinator/core/coordinator_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

TEST(CoordinatorCore, HealthyJobRaisesNothing) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Minutes(10));
  EXPECT_TRUE(job.concluded().empty());
  EXPECT_EQ(job.core().counters().suspicions, 0);
}

TEST(CoordinatorCore, RaisesAtTheThresholdAndNotBefore) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Milliseconds(3900));
  EXPECT_EQ(job.core().counters().suspicions, 0);
  job.Run(absl::Milliseconds(200));
  EXPECT_EQ(job.core().counters().suspicions, 1);
}

TEST(CoordinatorCore, DigestFollowsWithinThresholdPollAndASecondAndAHalf) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  const absl::Duration last_progress = job.now().monotonic;
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1), absl::Milliseconds(100)));
  EXPECT_LE(job.now().monotonic - last_progress, absl::Seconds(4) + absl::Seconds(1.5));
}

TEST(CoordinatorCore, CaptureHoldsWhatWasSeen) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(1, 2).pc = 0x99;
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  const Conclude& conclude = job.concluded().back();
  const CaptureHeader& header = conclude.capture.header;
  EXPECT_EQ(header.job, "job");
  EXPECT_EQ(header.trigger, "no-progress");
  EXPECT_EQ(header.hang_threshold_ms, 4000);
  EXPECT_EQ(header.expected_workers.size(), 8u);
  EXPECT_EQ(header.expected_workers[6].host, "host-1-2");
  EXPECT_EQ(conclude.capture.snapshots.size(), 8u);
  ASSERT_EQ(header.cohorts.size(), 1u);
  EXPECT_EQ(header.cohorts[0].workers.size(), 8u);
  ASSERT_EQ(header.cohorts[0].sequence.size(), 1u);
  EXPECT_EQ(header.cohorts[0].sequence[0].fingerprint, "aa");
  // The wall clock of the detection, and eight hex digits.
  EXPECT_THAT(conclude.incident_id, ::testing::MatchesRegex("20270115T[0-9]{6}Z-[0-9a-f]{8}"));
}

TEST(CoordinatorCore, AsksOneRuntimePerPositionForHloAndNamesModulesEverywhere) {
  FakeJob job(Quick(), 2, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(1, 2).pc = 0x99;
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  int asked = 0;
  for (const auto& [id, agent] : job.agents()) asked += Count<wire::HloRequest>(agent);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(Count<wire::HloRequest>(job.at(1, 2)), 1);
  for (const Snapshot& snapshot : job.concluded().back().capture.snapshots) {
    EXPECT_EQ(snapshot.programs[0].module, "jit_aa");
    const bool was_asked =
        Count<wire::HloRequest>(job.at(snapshot.worker.slice, snapshot.worker.task)) > 0;
    EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo.has_value(), was_asked);
  }
}

TEST(CoordinatorCore, TwoRoundsAtLeastHalfASecondApart) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  ASSERT_EQ(Count<wire::Collect>(job.at(0, 0)), 1);
  job.Run(kRoundInterval - absl::Milliseconds(1), absl::Hours(1));
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 1);
  job.Run(absl::Milliseconds(1), absl::Hours(1));
  EXPECT_EQ(Count<wire::Collect>(job.at(0, 0)), 2);
}

TEST(CoordinatorCore, LaunchesThatCompleteBetweenTheRoundsAreNoHang) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  ASSERT_EQ(Count<wire::Collect>(job.at(0, 0)), 1);
  ++job.at(0, 0).launch_id;  // only the second round sees it
  job.Run(absl::Seconds(1), absl::Hours(1));
  EXPECT_TRUE(job.concluded().empty());
  EXPECT_EQ(job.core().counters().recovered_in_between, 1);
  EXPECT_TRUE(job.Logged("no hang"));
}

// The processes of the `restarted` workers are other ones in the second round.
size_t IncidentsWhenProcessesChange(const std::vector<int>& restarted) {
  FakeJob job(Quick(), 1, 3);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  for (const int task : restarted) job.at(0, task).process = "p2";
  job.Run(absl::Seconds(1), absl::Hours(1));
  return job.concluded().size();
}

TEST(CoordinatorCore, AJobThatRestartsBetweenTheRoundsIsNoHang) {
  EXPECT_EQ(IncidentsWhenProcessesChange({0, 1}), 0u);
}

TEST(CoordinatorCore, AProcessThatRestartsAloneDoesNotEndTheHang) {
  EXPECT_EQ(IncidentsWhenProcessesChange({0}), 1u);
}

TEST(CoordinatorCore, MovingPcWithoutCompletionIsAHang) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Run(absl::Seconds(4));
  job.at(0, 0).pc += 8;
  job.Run(absl::Seconds(1), absl::Hours(1));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(CoordinatorCore, HeartbeatsThatShowProgressEndTheSuspicion) {
  FakeJob job(Quick(), 1, 2);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 1).answers = false;  // so that the collection lasts
  job.Run(absl::Seconds(4));
  ASSERT_EQ(job.core().counters().suspicions, 1);
  job.Thaw();
  job.Run(absl::Seconds(2));
  EXPECT_EQ(job.core().counters().recovered_in_between, 1);
  EXPECT_EQ(Count<wire::Cancel>(job.at(0, 1)), 1);
  job.Run(absl::Minutes(1));
  EXPECT_TRUE(job.concluded().empty());
}

TEST(CoordinatorCore, WorkerThatDoesNotAnswerIsMissingAtTheDeadline) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).answers = false;
  const absl::Duration last_progress = job.now().monotonic;
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_LE(job.now().monotonic - last_progress, absl::Seconds(4 + 10 + 1));
  EXPECT_EQ(job.concluded().back().capture.snapshots.size(), 3u);
  EXPECT_EQ(job.concluded().back().capture.header.expected_workers.size(), 4u);
}

TEST(CoordinatorCore, WorkerWhoseStreamBreaksIsMissingAtOnce) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  job.Disconnect(job.at(0, 3));
  job.Run(absl::Seconds(1));
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded().back().capture.snapshots.size(), 3u);
}

TEST(CoordinatorCore, AgentThatComesBackDuringTheFirstRoundIsAsked) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 2).answers = false;
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  job.Disconnect(job.at(0, 3));
  job.at(0, 3).answers = true;
  job.Connect(job.at(0, 3));
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_EQ(job.concluded().back().capture.snapshots.size(), 3u);
}

TEST(CoordinatorCore, OneDigestPerIncidentAndANewOneAfterRecovery) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  job.Concluded();
  job.Run(absl::Minutes(10));
  EXPECT_EQ(job.concluded().size(), 1u);
  job.Thaw();
  job.Run(absl::Seconds(10));
  EXPECT_TRUE(job.Logged("watching again"));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_EQ(job.concluded().size(), 2u);
  EXPECT_NE(job.concluded()[0].incident_id, job.concluded()[1].incident_id);
}

TEST(CoordinatorCore, OneWorkerThatMovesDoesNotEndTheIncident) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  job.Concluded();
  job.at(0, 0).advancing = true;
  job.Run(absl::Seconds(5));
  job.at(0, 0).advancing = false;
  job.Run(absl::Minutes(1));
  EXPECT_EQ(job.concluded().size(), 1u);
}

TEST(CoordinatorCore, VerdictOfNoHangKeepsWatching) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  job.Concluded(/*hang=*/false);
  EXPECT_EQ(job.core().counters().incidents, 0);
  EXPECT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
}

TEST(CoordinatorCore, HangLineIsLookedAtWithoutWaitingForAThreshold) {
  FakeJob job(Options{}, 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kHangLine, "Megascale hang detected"});
  job.Run(absl::Seconds(1));
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded()[0].capture.header.trigger, "hang-line");
  EXPECT_FALSE(job.concluded()[0].capture.header.hang_threshold_ms.has_value());
}

TEST(CoordinatorCore, AlarmOfAJobThatAdvancesComesToNothing) {
  FakeJob job(Options{}, 1, 4);
  job.Run(absl::Seconds(20));
  for (int i = 0; i < 20; ++i) {
    job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kHangLine, "it\nhangs"});
    job.Run(absl::Seconds(1), absl::Milliseconds(100));
  }
  EXPECT_TRUE(job.concluded().empty());
  EXPECT_EQ(job.core().counters().alarms, 20);
  // A worker that cries wolf does not keep the job busy.
  EXPECT_LE(job.core().counters().suspicions, 2 * kAlarmTries);
  EXPECT_TRUE(job.Logged("it\\nhangs"));
}

TEST(CoordinatorCore, NothingIsJudgedWhileMostAgentsAreStillOnTheirWayBack) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  // A coordinator that starts now hears one worker that has stood still for long.
  CoordinatorCore fresh(Quick());
  const auto at = [&](int seconds) {
    return Instant{absl::Seconds(5000 + seconds), absl::FromUnixSeconds(1'900'000'000 + seconds)};
  };
  fresh.Step(StreamOpened{.stream = 1, .peer = "p"}, at(0));
  fresh.Step(MessageReceived{.stream = 1, .message = job.at(0, 0).hello}, at(0));
  wire::Heartbeat still;
  still.runtime.state = RuntimeState::kServing;
  still.launches_completed = 9;
  still.since_completion = absl::Minutes(10);
  still.launch_in_flight = true;
  fresh.Step(MessageReceived{.stream = 1, .message = still}, at(0));
  fresh.Step(Tick{}, at(29));
  EXPECT_EQ(fresh.counters().suspicions, 0);
  fresh.Step(Tick{}, at(31));
  EXPECT_EQ(fresh.counters().suspicions, 1);
}

TEST(CoordinatorCore, AnAgentThatDiesSoonAfterTheStartDelaysNothing) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(10));
  job.Disconnect(job.at(0, 3));
  job.Freeze();
  job.Run(absl::Seconds(6));  // well before agents would have had time to come back
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded().back().capture.snapshots.size(), 3u);
}

TEST(CoordinatorCore, RestartOfTheJobForgetsAndRearms) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  job.Concluded();
  for (auto& [id, agent] : job.agents()) {
    agent.process = "p2";
    agent.completed = 0;
    agent.last_completion.reset();
    agent.programs = {"bb"};
  }
  job.Run(absl::Minutes(5));  // the job starts, within the grace for that
  EXPECT_EQ(job.core().counters().job_restarts, 1);
  EXPECT_EQ(job.concluded().size(), 1u);
  job.Thaw();
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  const CaptureHeader& header = job.concluded().back().capture.header;
  EXPECT_NE(header.job_incarnation, job.concluded()[0].capture.header.job_incarnation);
  ASSERT_EQ(header.cohorts.size(), 1u);
  EXPECT_EQ(header.cohorts[0].sequence[0].fingerprint, "bb");
}

TEST(CoordinatorCore, RestartDuringACollectionAbandonsIt) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  ASSERT_EQ(job.core().counters().suspicions, 1);
  for (auto& [id, agent] : job.agents()) {
    agent.process = "p2";
    agent.completed = 0;
    agent.last_completion.reset();
  }
  job.Run(absl::Minutes(1));
  EXPECT_TRUE(job.concluded().empty());
  EXPECT_TRUE(job.Logged("no hang: the job has restarted"));
}

TEST(CoordinatorCore, StopConcludesWithWhatThereIs) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  job.Step(Stop{});
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 3u);
  EXPECT_FALSE(job.core().Finished());
  job.Concluded();
  EXPECT_TRUE(job.core().Finished());
  EXPECT_TRUE(absl::IsUnavailable(*job.at(0, 0).closed));
}

TEST(CoordinatorCore, StopWithoutIncidentIsFinishedAtOnce) {
  FakeJob job(Quick(), 1, 2);
  job.Step(Stop{});
  EXPECT_TRUE(job.core().Finished());
  EXPECT_TRUE(job.concluded().empty());
}

TEST(CoordinatorCore, AttentionFollowsTheLearntLaunches) {
  FakeJob job(Options{}, 1, 2);
  const auto& first = std::get<wire::Welcome>(job.at(0, 0).inbox.front());
  EXPECT_EQ(first.attention_after, kMinLaunchThreshold / 2);
  wire::Heartbeat slow;
  slow.process_incarnation = "p1";
  slow.runtime.state = RuntimeState::kServing;
  slow.launches_completed = 5;
  slow.since_completion = absl::ZeroDuration();
  slow.programs = {{std::nullopt, "aa", 5, absl::Seconds(20)}};
  job.Say(job.at(0, 0), slow);
  job.Run(kJudgePeriod, absl::Hours(1));
  const auto& second = std::get<wire::Welcome>(job.at(0, 1).inbox.back());
  EXPECT_EQ(second.attention_after, absl::Seconds(50));
}

TEST(CoordinatorCore, TenThousandWorkersAreCollectedWithinBounds) {
  FakeJob job(Quick(), 10, 1000);
  job.Run(absl::Seconds(3));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(20), absl::Seconds(2)));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 10'000u);
  EXPECT_LE(job.most_in_flight(), kMaxSnapshotsInFlight);
  EXPECT_GT(job.most_in_flight(), kMaxSnapshotsInFlight / 2);
}

}  // namespace
}  // namespace rapideye::coordinator

#include "agent/core/agent_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/core_script.h"

namespace rapideye::agent {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

wire::Heartbeat LastHeartbeat(const CoreScript& script) {
  return script.Sent<wire::Heartbeat>().back();
}

// A healthy job: a launch a second, one poll every five.
void RunHealthy(CoreScript& script, int polls) {
  for (int i = 0; i < polls; ++i) {
    script.launch += 5;
    script.reading =
        Serving({Running(0, "aa", script.launch, 7), Running(1, "aa", script.launch, 7)});
    script.Pass(absl::Seconds(5));
  }
}

TEST(AgentCoreTest, SaysHelloAndTellsEachPollOnceWelcome) {
  CoreScript script;
  EXPECT_EQ(script.connects, 1);
  ASSERT_THAT(script.Sent<wire::Hello>(), SizeIs(1));
  EXPECT_EQ(script.Sent<wire::Hello>()[0].worker, (WorkerId{1, 2}));
  script.Pass(absl::Seconds(6));
  EXPECT_THAT(script.Sent<wire::Heartbeat>(), IsEmpty());
  script.Welcome();
  EXPECT_THAT(script.Sent<wire::Heartbeat>(), SizeIs(1));
  RunHealthy(script, 4);
  EXPECT_THAT(script.Sent<wire::Heartbeat>(), SizeIs(5));
  const wire::Heartbeat heartbeat = LastHeartbeat(script);
  EXPECT_EQ(heartbeat.runtime.state, RuntimeState::kServing);
  EXPECT_EQ(heartbeat.process_incarnation, "abc.1");
  EXPECT_EQ(heartbeat.launches_completed, 15);
  EXPECT_EQ(heartbeat.since_completion, absl::ZeroDuration());
  EXPECT_TRUE(heartbeat.launch_in_flight);
  EXPECT_FALSE(heartbeat.attentive);
  ASSERT_THAT(heartbeat.programs, SizeIs(1));
  EXPECT_EQ(heartbeat.programs[0].fingerprint, "aa");
  EXPECT_EQ(heartbeat.programs[0].completed, 15);
  EXPECT_EQ(heartbeat.programs[0].longest, absl::Seconds(1));
}

TEST(AgentCoreTest, HealthyJobsAreNeverAskedForHlo) {
  CoreScript script;
  script.Welcome();
  RunHealthy(script, 100);
  EXPECT_EQ(script.HloPolls(), 0);
  EXPECT_THAT(script.polls, SizeIs(Le(102)));
}

TEST(AgentCoreTest, AFrozenCoreAgesAndALaunchResetsIt) {
  CoreScript script;
  RunHealthy(script, 2);
  script.Pass(absl::Seconds(20));
  Snapshot snapshot = script.Describe();
  ASSERT_THAT(snapshot.cores, SizeIs(2));
  EXPECT_THAT(*snapshot.cores[0].stuck_ms, Ge(20'000));
  EXPECT_EQ(snapshot.cores[0].sequencers[0].frozen_ms, snapshot.cores[0].stuck_ms);
  RunHealthy(script, 1);
  snapshot = script.Describe();
  EXPECT_THAT(*snapshot.cores[0].stuck_ms, Le(5'000));
  EXPECT_THAT(*snapshot.cores[0].sequencers[0].frozen_ms, Le(5'000));
}

TEST(AgentCoreTest, AMovingPcIsNoProgress) {
  CoreScript script;
  RunHealthy(script, 2);
  for (int pc = 0; pc < 60; ++pc) {
    script.reading = Serving({Running(0, "aa", 900, 100 + pc)});
    script.Pass(absl::Seconds(1));
  }
  const Snapshot snapshot = script.Describe();
  EXPECT_THAT(*snapshot.cores[0].stuck_ms, Ge(55'000));
  EXPECT_THAT(*snapshot.cores[0].sequencers[0].frozen_ms, Le(1'000));
}

TEST(AgentCoreTest, AStandstillIsPolledFastWithOneDetailedSample) {
  CoreScript script;
  script.Welcome(absl::Seconds(10));
  RunHealthy(script, 2);
  const CoreSample core = Running(0, "aa", 1'000, 42);
  script.reading = Serving({core});
  script.reading_with_hlo = Serving({WithHlo(core, "fusion.7", "jit_step")});
  script.Pass(absl::Seconds(5));
  const absl::Duration frozen = script.polls.back().at;
  script.polls.clear();
  script.Pass(absl::Seconds(60));
  EXPECT_EQ(script.HloPolls(), 1);
  EXPECT_THAT(script.polls, SizeIs(Ge(190)));
  for (const CoreScript::PollSeen& seen : script.polls) {
    if (seen.poll.with_hlo) {
      EXPECT_LE(seen.at - frozen, absl::Seconds(10));
    }
  }
  EXPECT_TRUE(LastHeartbeat(script).attentive);
  EXPECT_EQ(LastHeartbeat(script).programs.back().module, "jit_step");
  // Later samples have no HLO, but the core has not moved.
  const Snapshot snapshot = script.Describe();
  ASSERT_THAT(snapshot.cores, SizeIs(1));
  EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo, "fusion.7");
  ASSERT_THAT(snapshot.programs, SizeIs(1));
  EXPECT_EQ(snapshot.programs[0].module, "jit_step");

  // Progress ends the standstill, and the next one has a detailed sample of its own.
  script.reading = Serving({Running(0, "aa", 1'001, 42)});
  script.reading_with_hlo.reset();
  script.Pass(absl::Seconds(1));
  EXPECT_FALSE(LastHeartbeat(script).attentive);
  EXPECT_EQ(script.Describe().cores[0].sequencers[0].hlo, std::nullopt);
  script.Pass(absl::Seconds(30));
  EXPECT_EQ(script.HloPolls(), 2);
  EXPECT_FALSE(script.stuck);
}

// The order in which cores stop can only be seen while they stop.
TEST(AgentCoreTest, ALaunchThatTakesLongerThanAnyBeforeIsPolledFastForAWhile) {
  CoreScript script;
  script.Welcome(absl::Minutes(10));
  RunHealthy(script, 4);
  EXPECT_THAT(script.polls, SizeIs(Le(6)));  // nothing is overdue so far
  script.polls.clear();
  script.Pass(absl::Seconds(20));  // it stands
  EXPECT_THAT(script.polls, SizeIs(Ge(kOverduePollingFor / kFastestPoll)));
  script.polls.clear();
  script.Pass(absl::Seconds(30));
  EXPECT_THAT(script.polls, SizeIs(Le(7)));  // at the usual pace
  script.polls.clear();
  script.Pass(absl::Minutes(8));
  // Once a minute again, until attention polls fast for good.
  EXPECT_THAT(script.polls, SizeIs(Le(9 * (kOverduePollingFor / kFastestPoll + 12))));
  EXPECT_FALSE(script.stuck);
}

TEST(AgentCoreTest, WhileItPollsFastItSpeaksOnlyWhenThereIsSomethingToSay) {
  CoreScript script;
  script.Welcome(absl::Seconds(10));
  RunHealthy(script, 2);
  const size_t before = script.Sent<wire::Heartbeat>().size();
  script.Pass(absl::Seconds(60));
  EXPECT_THAT(script.Sent<wire::Heartbeat>(), SizeIs(Le(before + 15)));
  EXPECT_THAT(script.Sent<wire::Heartbeat>(), SizeIs(Ge(before + 10)));
}

TEST(AgentCoreTest, ALongPauseIsPolledAtTheUsualPaceAgain) {
  CoreScript script;
  script.Welcome(absl::Seconds(10));
  RunHealthy(script, 2);
  script.reading = Serving({Idle(0), Idle(1)});
  script.Pass(kFastPollingFor + absl::Minutes(1));
  script.polls.clear();
  script.Pass(absl::Minutes(10));
  EXPECT_THAT(script.polls, SizeIs(Le(121)));
  EXPECT_EQ(script.HloPolls(), 0);
  EXPECT_FALSE(script.stuck);
}

TEST(AgentCoreTest, LearnsTheLongestPause) {
  CoreScript script;
  script.Welcome(absl::Hours(1));
  RunHealthy(script, 2);
  script.reading = Serving({Idle(0), Idle(1)});
  script.Pass(absl::Seconds(60));
  EXPECT_FALSE(LastHeartbeat(script).launch_in_flight);
  RunHealthy(script, 1);
  EXPECT_EQ(LastHeartbeat(script).longest_pause, absl::Seconds(60));
}

TEST(AgentCoreTest, ShowsTheQueueOfTheCoreThatShowsMost) {
  CoreScript script;
  script.reading = Serving(
      {Running(0, "aa", 1, 5), WithQueued(Running(1, "aa", 1, 5), {{"bb", 7, std::nullopt}})});
  script.Pass(absl::Seconds(5));
  script.Welcome();
  const std::vector<wire::QueueEntry> queue = LastHeartbeat(script).queue;
  ASSERT_THAT(queue, SizeIs(2));
  EXPECT_EQ(queue[0].fingerprint, "aa");
  EXPECT_EQ(queue[1].fingerprint, "bb");
  EXPECT_EQ(queue[1].launch_id, 7);
}

TEST(AgentCoreTest, ARuntimeThatDiesLeavesItsLastSample) {
  CoreScript script;
  script.Welcome(absl::Seconds(10));
  const CoreSample core = Running(0, "aa", 1'000, 42);
  script.reading = Serving({core});
  script.reading_with_hlo = Serving({WithHlo(core, "fusion.7", "jit_step")});
  script.Pass(absl::Seconds(30));
  script.reading = NotServing(RuntimeState::kUnavailable, "connection refused");
  script.reading_with_hlo = script.reading;
  script.Pass(absl::Seconds(30));
  const Snapshot snapshot = script.Describe();
  EXPECT_EQ(snapshot.runtime.state, RuntimeState::kUnavailable);
  EXPECT_EQ(snapshot.runtime.detail, "connection refused");
  EXPECT_EQ(snapshot.incarnation, "abc.1");
  ASSERT_THAT(snapshot.cores, SizeIs(1));
  EXPECT_EQ(snapshot.cores[0].launch_id, 1'000);
  EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo, "fusion.7");
  EXPECT_THAT(*snapshot.cores[0].sequencers[0].frozen_ms, Ge(55'000));
  EXPECT_EQ(LastHeartbeat(script).runtime.state, RuntimeState::kUnavailable);
  EXPECT_THAT(*LastHeartbeat(script).since_completion, Ge(absl::Seconds(55)));
}

TEST(AgentCoreTest, ARuntimeThatComesBackIsAnotherProcess) {
  CoreScript script;
  script.Welcome();
  RunHealthy(script, 4);
  const RuntimeReading before = script.reading;
  script.reading = NotServing(RuntimeState::kUnavailable, "connection refused");
  script.Pass(absl::Seconds(10));
  script.reading = before;
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(LastHeartbeat(script).process_incarnation, "abc.2");
  EXPECT_EQ(LastHeartbeat(script).launches_completed, 0);
}

TEST(AgentCoreTest, ARuntimeThatAnswersAgainIsTheSameProcess) {
  CoreScript script;
  script.Welcome();
  RunHealthy(script, 4);
  const RuntimeReading before = script.reading;
  script.reading = NotServing(RuntimeState::kTimedOut, "no answer within 2s");
  script.Pass(absl::Seconds(10));
  EXPECT_EQ(LastHeartbeat(script).runtime.state, RuntimeState::kTimedOut);
  script.reading = before;
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(LastHeartbeat(script).process_incarnation, "abc.1");
  EXPECT_GT(LastHeartbeat(script).launches_completed, 0);
}

TEST(AgentCoreTest, CountersThatStartAnewAreAnotherProcess) {
  CoreScript script;
  script.Welcome();
  RunHealthy(script, 4);
  script.reading = Serving({Running(0, "aa", -5, 7), Running(1, "aa", -5, 7)});
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(LastHeartbeat(script).process_incarnation, "abc.2");
  EXPECT_EQ(LastHeartbeat(script).launches_completed, 0);
  EXPECT_EQ(LastHeartbeat(script).since_completion, absl::ZeroDuration());
}

TEST(AgentCoreTest, AnswersWithoutASampleAreReportedAndKeepTheLastOne) {
  CoreScript script;
  script.Welcome();
  RunHealthy(script, 2);
  script.reading = NotServing(RuntimeState::kServing, "its answer is not one");
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(LastHeartbeat(script).runtime.detail, "its answer is not one");
  EXPECT_THAT(script.Describe().cores, SizeIs(2));
  ASSERT_THAT(script.logs, Not(IsEmpty()));
  EXPECT_THAT(script.logs.back().text, HasSubstr("its answer is not one"));
}

TEST(AgentCoreTest, AFlappingRuntimeDoesNotFloodTheLog) {
  CoreScript script(absl::Milliseconds(250));
  script.Welcome();
  script.logs.clear();
  for (int i = 0; i < 240; ++i) {
    script.reading = i % 2 == 0 ? NotServing(RuntimeState::kTimedOut, "no answer")
                                : Serving({Running(0, "aa", i, 7)});
    script.Pass(absl::Milliseconds(250));
  }
  EXPECT_THAT(script.logs, SizeIs(Le(7)));
}

TEST(AgentCoreTest, ASamplerThatNeverAnswersIsGivenUp) {
  CoreScript script;
  script.Welcome();
  script.runtime_answers = false;
  script.Pass(absl::Minutes(1));
  EXPECT_EQ(LastHeartbeat(script).runtime.state, RuntimeState::kTimedOut);
  EXPECT_THAT(script.polls, SizeIs(Ge(5)));
  EXPECT_FALSE(script.stuck);
}

TEST(AgentCoreTest, ConnectsAgainWithJitteredBackoff) {
  CoreScript script;
  const absl::Duration start = script.now();
  std::vector<absl::Duration> delays;
  for (int i = 0; i < 10; ++i) {
    const int connects = script.connects;
    const absl::Duration closed = script.now();
    script.Step(StreamClosed{script.stream, absl::UnavailableError("connection refused")});
    while (script.connects == connects) script.Pass(absl::Milliseconds(1));
    delays.push_back(script.now() - closed);
  }
  EXPECT_THAT(delays, Each(Ge(kFirstBackoff / 2)));
  EXPECT_THAT(delays, Each(Le(kLongestBackoff)));
  EXPECT_GT(script.now() - start, absl::Seconds(20));
  // Each outage is logged in one line.
  EXPECT_EQ(std::count_if(script.logs.begin(), script.logs.end(),
                          [](const Log& log) {
                            return log.text.find("no coordinator") != std::string::npos;
                          }),
            1);
}

TEST(AgentCoreTest, ARefusedAgentWaitsLong) {
  CoreScript script;
  script.Step(StreamClosed{script.stream, absl::AlreadyExistsError("a newer agent runs")});
  script.Pass(kRefusedBackoff / 2 - absl::Seconds(1));
  EXPECT_EQ(script.connects, 1);
  script.Pass(kRefusedBackoff);
  EXPECT_THAT(script.connects, Ge(2));
  EXPECT_EQ(std::count_if(script.logs.begin(), script.logs.end(),
                          [](const Log& log) { return log.level == LogLevel::kError; }),
            1);
}

TEST(AgentCoreTest, ACoordinatorThatDoesNotWelcomeIsLeft) {
  CoreScript script;
  script.Pass(kWelcomeTimeout + kLongestBackoff);
  EXPECT_EQ(script.closes, 1);
  EXPECT_EQ(script.connects, 2);
}

TEST(AgentCoreTest, TheEndOfAnEarlierStreamChangesNothing) {
  CoreScript script;
  script.Step(StreamClosed{script.stream, absl::UnavailableError("")});
  const int64_t first = script.stream;
  script.Pass(absl::Seconds(1));
  ASSERT_EQ(script.connects, 2);
  script.Welcome();
  script.Step(StreamClosed{first, absl::UnavailableError("")});
  script.Pass(absl::Minutes(1));
  EXPECT_EQ(script.connects, 2);
}

TEST(AgentCoreTest, ShutdownClosesTheStreamAndEndsEverything) {
  CoreScript script;
  script.Welcome();
  script.Step(ShutdownRequested{});
  EXPECT_EQ(script.closes, 1);
  EXPECT_EQ(script.NextWake(), absl::InfiniteDuration());
  const size_t polls = script.polls.size();
  script.Step(Wake{});
  EXPECT_THAT(script.polls, SizeIs(polls));
}

}  // namespace
}  // namespace rapideye::agent

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "agent/core/limits.h"
#include "agent/core/snapshot_builder.h"
#include "tests/support/core_script.h"

namespace rapideye::agent {
namespace {

using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

wire::Collect Collect(int64_t number, bool credit) { return {number, credit, absl::Seconds(10)}; }

class AgentRequestsTest : public testing::Test {
 protected:
  AgentRequestsTest() {
    script_.reading = Serving({Running(0, "aa", 1, 5)});
    script_.reading_with_hlo =
        Serving({WithHlo(Running(0, "aa", 1, 5), "all-reduce.3", "jit_step")});
    script_.Welcome();
    script_.Pass(absl::Seconds(6));
  }

  CoreScript script_;
};

TEST_F(AgentRequestsTest, ACollectionWithCreditIsAnsweredWithAFreshSample) {
  const size_t polls = script_.polls.size();
  script_.Receive(Collect(7, true));
  EXPECT_THAT(script_.polls, SizeIs(polls + 1));
  const auto replies = script_.Sent<wire::SnapshotReply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].collection, 7);
  EXPECT_EQ(replies[0].snapshot.worker, (WorkerId{1, 2}));
  EXPECT_EQ(replies[0].snapshot.host, "host-1-2");
  EXPECT_EQ(replies[0].snapshot.runtime.state, RuntimeState::kServing);
  EXPECT_THAT(replies[0].snapshot.cores, SizeIs(1));
  EXPECT_EQ(replies[0].snapshot.captured_unix_ms, absl::ToUnixMillis(script_.Now().wall));
  EXPECT_THAT(script_.Sent<wire::SampleReady>(), IsEmpty());
}

TEST_F(AgentRequestsTest, WithoutCreditTheSnapshotWaitsForIt) {
  script_.Receive(Collect(7, false));
  const auto ready = script_.Sent<wire::SampleReady>();
  ASSERT_THAT(ready, SizeIs(1));
  EXPECT_EQ(ready[0].collection, 7);
  EXPECT_GT(ready[0].size_bytes, 0);
  // The agent sends the snapshot of the time of the request, not one of now.
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(10));
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
  script_.Receive(wire::Grant{7});
  const auto replies = script_.Sent<wire::SnapshotReply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].snapshot.cores[0].launch_id, 1);
  // A second Grant finds no snapshot left to send.
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST_F(AgentRequestsTest, AGrantBeforeTheSampleIsCredit) {
  script_.runtime_answers = false;
  script_.Receive(Collect(7, false));
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
  script_.AnswerPoll();
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST_F(AgentRequestsTest, ASampleBegunBeforeTheCollectionDoesNotDo) {
  script_.runtime_answers = false;
  script_.Pass(absl::Seconds(5));
  const size_t polls = script_.polls.size();
  script_.Receive(Collect(7, true));
  script_.AnswerPoll();
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
  EXPECT_THAT(script_.polls, SizeIs(polls + 1));
  script_.AnswerPoll();
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST_F(AgentRequestsTest, ARuntimeThatDoesNotAnswerIsReportedWithTheLastSample) {
  script_.reading = NotServing(RuntimeState::kTimedOut, "no answer within 2s");
  script_.Receive(Collect(7, true));
  const auto replies = script_.Sent<wire::SnapshotReply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].snapshot.runtime.state, RuntimeState::kTimedOut);
  EXPECT_THAT(replies[0].snapshot.cores, SizeIs(1));
}

// XLA's dumps name the compiled programs where no runtime ever answered. The first look does not
// wait for the dumps.
TEST(AgentRequestsOfDumpsTest, ALaterSnapshotHasTheProgramsOfTheDumps) {
  AgentSettings settings = CoreScript::Settings(absl::Seconds(5), 1, false);
  settings.hello.hlo_dumps = true;
  int lists = 0;
  const auto count = [&lists](absl::Duration, const Effect& effect) {
    const auto* list = std::get_if<ListDumps>(&effect);
    if (list != nullptr && list->fingerprints) ++lists;
  };
  CoreScript script(settings, absl::Hours(100), count);
  script.reading = NotServing(RuntimeState::kUnavailable, "connection refused");
  script.Step(Wake{});
  script.Welcome();
  script.Pass(absl::Seconds(6));
  EXPECT_EQ(lists, 0);
  script.Receive(Collect(7, true));
  EXPECT_EQ(lists, 1);
  ASSERT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
  EXPECT_THAT(script.Sent<wire::SnapshotReply>()[0].snapshot.programs, IsEmpty());

  script.Pass(absl::Milliseconds(500));
  script.Receive(Collect(8, true));
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
  HloDumpReading reading;
  reading.compiled = {{"jit_step", "aa01"}};
  script.Step(DumpsListed{reading});
  script.Pass(absl::Seconds(1));
  const auto replies = script.Sent<wire::SnapshotReply>();
  ASSERT_THAT(replies, SizeIs(2));
  ASSERT_THAT(replies[1].snapshot.programs, SizeIs(1));
  EXPECT_EQ(replies[1].snapshot.programs[0].module, "jit_step");
  EXPECT_EQ(lists, 1);
}

TEST_F(AgentRequestsTest, TheReplyIsInTimeEvenIfThePollIsNot) {
  script_.runtime_answers = false;
  script_.Receive(Collect(7, true));
  const absl::Duration asked = script_.now();
  while (script_.Sent<wire::SnapshotReply>().empty()) script_.Pass(absl::Milliseconds(100));
  EXPECT_LT(script_.now() - asked, absl::Seconds(10));
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>()[0].snapshot.cores, SizeIs(1));
}

TEST_F(AgentRequestsTest, ANewCollectionTakesThePlaceOfTheOld) {
  script_.Receive(Collect(7, false));
  script_.Receive(Collect(8, false));
  script_.Pass(kCollectSpacing);
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
  script_.Receive(wire::Grant{8});
  ASSERT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
  EXPECT_EQ(script_.Sent<wire::SnapshotReply>()[0].collection, 8);
}

TEST_F(AgentRequestsTest, ACancelledCollectionIsForgotten) {
  script_.Receive(Collect(7, false));
  script_.Receive(wire::Cancel{6});
  script_.Receive(wire::Cancel{7});
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
}

TEST_F(AgentRequestsTest, ASnapshotThatNobodyWantsIsForgotten) {
  script_.Receive(Collect(7, false));
  script_.Pass(kKeepSnapshotFor + absl::Seconds(1));
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
}

TEST_F(AgentRequestsTest, TheEndOfTheStreamForgetsItsCollection) {
  script_.Receive(Collect(7, false));
  script_.Step(StreamClosed{script_.stream, absl::OkStatus()});
  script_.Pass(absl::Seconds(5));
  script_.Welcome();
  script_.Receive(wire::Grant{7});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
}

TEST_F(AgentRequestsTest, HloIsFetchedAndModulesAreLearnt) {
  script_.Receive(wire::HloRequest{7, absl::Seconds(10)});
  const auto replies = script_.Sent<wire::HloReply>();
  ASSERT_THAT(replies, SizeIs(1));
  ASSERT_TRUE(replies[0].snapshot.has_value());
  EXPECT_EQ(replies[0].snapshot->cores[0].sequencers[0].hlo, "all-reduce.3");
  EXPECT_EQ(replies[0].snapshot->programs[0].module, "jit_step");
  // From now on the agent knows the module, although no poll names it.
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(5));
  EXPECT_EQ(script_.Sent<wire::Heartbeat>().back().programs.back().module, "jit_step");
}

// The text of one slice of two: its partitions are numbered in the order of all devices.
TEST(AgentGroupsTest, AreToldInFullWhereHloIsAskedFor) {
  CoreScript script(absl::Seconds(5), 1, /*watches_host=*/true);
  script.reading = Serving({Running(0, "aa", 1, 5)});
  script.reading_with_hlo = Serving({WithHlo(Running(0, "aa", 1, 5), "all-reduce.3", "jit_step")});
  script.reading_with_hlo->sample->cores[0].sequencers[0].meeting =
      std::make_shared<const MeetingText>(
          MeetingText{{{0, 1}, {2, 3}}, {13, 21, 10, 23, 20, 12, 11, 22}, false, 4});
  ProgressSample page{12, Phase::kStep, absl::Seconds(3), std::nullopt};
  page.devices = {10, 11};
  script.host.Of<ProgressReading>() = ProgressReading{page, ""};
  script.Welcome();
  script.Pass(absl::Seconds(6));
  const auto told = [&] {
    script.Receive(wire::HloRequest{7, absl::Seconds(10)});
    script.Pass(absl::Seconds(6));
    return script.Sent<wire::HloReply>().back().snapshot->collectives;
  };
  EXPECT_THAT(told(), IsEmpty());  // which devices are of this slice is not known
  script.host.Of<ProgressReading>()->progress->slice_devices = {10, 14};
  script.Pass(absl::Seconds(6));
  const auto all = told();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].instruction, "all-reduce.3");
  EXPECT_EQ(all[0].groups, (std::vector<DeviceGroup>{{{13, 10}}, {{12, 11}}}));
  EXPECT_EQ(script.Describe().collectives, all);  // each group holds one of its own
  script.host.Of<ProgressReading>()->progress->devices = {11};
  script.Pass(absl::Seconds(6));
  ASSERT_THAT(script.Describe().collectives, SizeIs(1));
  EXPECT_EQ(script.Describe().collectives[0].groups, (std::vector<DeviceGroup>{{{12, 11}}}));
  EXPECT_EQ(script.Describe().collectives[0].pairs, std::nullopt);
  EXPECT_EQ(told(), all);
}

// Pairs of a permutation need not hold all partitions: the number of those tells what they number.
TEST(AgentGroupsTest, OfAPermutationArePairs) {
  CoreScript script(absl::Seconds(5), 1, /*watches_host=*/true);
  script.reading = Serving({Running(0, "aa", 1, 5)});
  ProgressSample page{12, Phase::kStep, absl::Seconds(3), std::nullopt};
  page.devices = {10};
  page.slice_devices = {10, 12};
  script.host.Of<ProgressReading>() = ProgressReading{page, ""};
  script.Welcome();
  const auto told = [&](int64_t partitions) {
    script.reading_with_hlo = Serving({WithHlo(Running(0, "aa", 1, 5), "shift.3", "jit_step")});
    script.reading_with_hlo->sample->cores[0].sequencers[0].meeting =
        std::make_shared<const MeetingText>(
            MeetingText{{{0, 1}, {1, 0}}, {21, 10, 20, 11}, true, partitions});
    script.Pass(absl::Seconds(6));
    script.Receive(wire::HloRequest{7, absl::Seconds(10)});
    script.Pass(absl::Seconds(6));
    return script.Sent<wire::HloReply>().back().snapshot->collectives;
  };
  ASSERT_THAT(told(4), SizeIs(1));
  EXPECT_EQ(told(4)[0].pairs, true);
  EXPECT_EQ(told(4)[0].groups, (std::vector<DeviceGroup>{{{21, 10}}, {{10, 21}}}));
  ASSERT_THAT(told(2), SizeIs(1));
  EXPECT_EQ(told(2)[0].groups, (std::vector<DeviceGroup>{{{10, 11}}, {{11, 10}}}));
  EXPECT_THAT(told(3), IsEmpty());
}

TEST_F(AgentRequestsTest, HloThatDoesNotComeIsAnErrorAndNoSignOfTheRuntimesState) {
  script_.reading_with_hlo = NotServing(RuntimeState::kTimedOut, "no answer within 8s");
  script_.Receive(wire::HloRequest{7, absl::Seconds(10)});
  const auto replies = script_.Sent<wire::HloReply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_FALSE(replies[0].snapshot.has_value());
  EXPECT_THAT(replies[0].error, HasSubstr("no answer within 8s"));
  EXPECT_EQ(script_.Describe().runtime.state, RuntimeState::kServing);
}

TEST_F(AgentRequestsTest, AFloodOfHloRequestsIsSpacedOut) {
  script_.polls.clear();
  for (int i = 0; i < 1000; ++i) {
    script_.Receive(wire::HloRequest{i, absl::Seconds(10)});
    script_.Pass(absl::Milliseconds(10));
  }
  EXPECT_LE(script_.HloPolls(), 11);
  EXPECT_FALSE(script_.stuck);
}

TEST_F(AgentRequestsTest, ACollectionGoesBeforeHlo) {
  script_.runtime_answers = false;
  script_.Pass(absl::Seconds(5));
  script_.Receive(wire::HloRequest{7, absl::Seconds(10)});
  script_.Receive(Collect(7, true));
  script_.AnswerPoll();
  EXPECT_FALSE(script_.polls.back().poll.with_hlo);
  script_.AnswerPoll();
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
  EXPECT_TRUE(script_.polls.back().poll.with_hlo);
}

TEST_F(AgentRequestsTest, ShutdownHandsOverWhatWasNotDelivered) {
  script_.Receive(Collect(7, false));
  script_.Step(ShutdownRequested{});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
  EXPECT_EQ(script_.closes, 1);
}

TEST_F(AgentRequestsTest, MessagesOfAnotherStreamAreIgnored) {
  script_.Step(MessageReceived{script_.stream - 1, Collect(7, true)});
  script_.Step(MessageReceived{script_.stream + 1, Collect(7, true)});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), IsEmpty());
  script_.Step(MessageReceived{script_.stream, Collect(7, true)});
  EXPECT_THAT(script_.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST(AgentHostileCoordinatorTest, NothingIsObeyedBeforeWelcome) {
  CoreScript script;
  script.Receive(Collect(7, true));
  script.Receive(wire::HloRequest{7, absl::Seconds(10)});
  EXPECT_THAT(script.sent, SizeIs(1));  // Hello
  script.Welcome();
  script.Receive(Collect(7, true));
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST(AgentHostileCoordinatorTest, IntervalsAndDeadlinesAreBroughtIntoRange) {
  constexpr absl::Duration kTick = absl::Nanoseconds(1);
  constexpr absl::Duration kAges = absl::Hours(24 * 365);
  for (const absl::Duration duration : {kTick, absl::ZeroDuration(), -kAges, kAges}) {
    CoreScript script;
    script.reading = Serving({Running(0, "aa", 1, 5)});
    script.Receive(wire::Welcome{1, "", duration, duration});
    script.polls.clear();
    script.Pass(absl::Seconds(10));
    EXPECT_THAT(script.polls, SizeIs(Ge(2)));
    EXPECT_THAT(script.polls, SizeIs(Le(42)));
    script.Receive(wire::Collect{1, true, duration});
    script.Receive(wire::HloRequest{1, duration});
    script.Pass(absl::Seconds(10));
    EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
    EXPECT_THAT(script.Sent<wire::HloReply>(), SizeIs(1));
    EXPECT_FALSE(script.stuck);
  }
}

TEST(AgentHostileCoordinatorTest, AFloodOfEveryMessageIsHarmless) {
  CoreScript script;
  script.reading = Serving({Running(0, "aa", 1, 5)});
  script.Welcome();
  for (int64_t i = 0; i < 2'000; ++i) {
    script.Receive(wire::Collect{i % 3, i % 2 == 0, absl::Milliseconds(i)});
    script.Receive(wire::Grant{-i});
    script.Receive(wire::Grant{i % 3});
    script.Receive(wire::HloRequest{i, absl::Milliseconds(i)});
    script.Receive(wire::Cancel{i % 5});
    script.Welcome(absl::Milliseconds(i));
    script.Pass(absl::Milliseconds(1));
  }
  EXPECT_FALSE(script.stuck);
  EXPECT_LE(script.HloPolls(), 4);
  // Two seconds have passed: a runtime is not asked more often than every 100 ms.
  EXPECT_THAT(script.polls, SizeIs(Le(32)));
  EXPECT_THAT(script.logs, SizeIs(Le(5)));
}

// Tests of when an agent that goes with its training process may end -------------

class EndScript : public CoreScript {
 public:
  explicit EndScript(bool has_runtime = true)
      : CoreScript(Settings(absl::Seconds(5), 1, /*watches_host=*/true), absl::Hours(100),
                   nullptr) {
    if (!has_runtime) {
      reading = RuntimeReading{};
      reading.health.state = RuntimeState::kUnavailable;
    }
    Step(Wake{});
    ProcessSample sample;
    sample.id = {4211, 100};
    sample.state = ProcessState::kSleeping;
    host.Of<ProcessReading>() = ProcessReading{sample, ""};
    Pass(absl::Seconds(1));
  }

  void End(std::optional<int32_t> exit_code, std::optional<int32_t> signal) {
    ProcessSample& sample = *host.Of<ProcessReading>()->process;
    sample.state = ProcessState::kZombie;
    sample.exit_code = exit_code;
    sample.signal = signal;
    host.Of<ProcessReading>()->end_awaited = end_awaited;
    Step(HostSampled{0, host});
  }

  size_t Alarms() const { return Sent<wire::Alarm>().size(); }

  bool end_awaited = false;  // its parent will tell how it ended
};

constexpr char kIncidentOfEnd[] = "20260131T235959Z-0123abcd";

TEST(AgentCoreEnd, AGoodEndIsNothingToStayFor) {
  EndScript script;
  script.Welcome();
  EXPECT_FALSE(script.MayEnd());
  script.End(0, std::nullopt);
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, TheParentOfAProcessThatEndedTellsHow) {
  EndScript script;
  script.Welcome();
  script.end_awaited = true;
  script.End(std::nullopt, std::nullopt);
  EXPECT_FALSE(script.MayEnd());
  script.end_awaited = false;
  script.End(137, std::nullopt);
  EXPECT_EQ(script.Alarms(), 1u);
}

TEST(AgentCoreEnd, ACollectionThatIsUnderWayLearnsOfAGoodEnd) {
  EndScript script;
  script.Welcome();
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  EXPECT_EQ(script.Sent<wire::SnapshotReply>().size(), 1u);
  script.Pass(absl::Seconds(1));
  script.End(0, std::nullopt);
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Collect{2, true, absl::Seconds(2), kIncidentOfEnd});
  ASSERT_EQ(script.Sent<wire::SnapshotReply>().size(), 2u);
  EXPECT_EQ(script.Sent<wire::SnapshotReply>().back().snapshot.processes[0].exit_code, 0);
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, ACollectionOfLongAgoIsNothingToStayFor) {
  EndScript script;
  script.Welcome();
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  script.Pass(kCollectionLasts);
  script.End(0, std::nullopt);
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, StaysUntilTheIncidentIsConcluded) {
  EndScript script;
  script.Welcome();
  script.End(std::nullopt, 9);
  EXPECT_EQ(script.Alarms(), 1u);
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  EXPECT_EQ(script.Sent<wire::SnapshotReply>().size(), 1u);
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Concluded{kIncidentOfEnd});
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, StaysWhereTheLogSaidItAMomentBefore) {
  EndScript script;
  script.Welcome();
  logs::LogLine line;
  line.event.kind = LogKind::kUncaughtException;
  line.event.text = "ValueError: loss is not finite";
  script.Step(LogsRead{{{line}, {}}});
  ASSERT_EQ(script.Alarms(), 1u);
  script.Pass(absl::Milliseconds(10));
  script.End(1, std::nullopt);
  EXPECT_EQ(script.Alarms(), 1u);
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Concluded{kIncidentOfEnd});
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, StaysUntilThereIsACoordinator) {
  EndScript script;
  script.End(1, std::nullopt);
  EXPECT_EQ(script.Alarms(), 0u);
  EXPECT_FALSE(script.MayEnd());
  script.Welcome();
  EXPECT_EQ(script.Alarms(), 1u);
  EXPECT_FALSE(script.MayEnd());
  script.Receive(wire::Concluded{kIncidentOfEnd});
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, AnAlarmThatTheCoordinatorTookWithItIsToldToTheNextOne) {
  EndScript script;
  script.Welcome();
  script.End(1, std::nullopt);
  script.Step(StreamClosed{script.stream, absl::UnavailableError("gone")});
  EXPECT_FALSE(script.MayEnd());
  script.Pass(absl::Seconds(1));
  script.Welcome();
  EXPECT_EQ(script.Alarms(), 2u);
  // This coordinator has collected, and left: its disk may have gone with it.
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  EXPECT_FALSE(script.MayEnd());
  script.Step(StreamClosed{script.stream, absl::UnavailableError("gone")});
  EXPECT_FALSE(script.MayEnd());
  script.Pass(absl::Seconds(1));
  script.Welcome();
  EXPECT_EQ(script.Alarms(), 3u);
  script.Receive(wire::Concluded{kIncidentOfEnd});
  EXPECT_TRUE(script.MayEnd());
}

// The same where no runtime names the process: a coordinator that begins an incident and dies with
// its host leaves the rest to the next coordinator.
TEST(AgentCoreEnd, RemembersForTheNextCoordinatorWhatThisOneHasBegun) {
  EndScript script(/*has_runtime=*/false);
  script.Welcome();
  script.Pass(absl::Seconds(5));
  script.End(std::nullopt, 6);
  script.Receive(wire::Collect{1, true, absl::Seconds(2), kIncidentOfEnd});
  script.Pass(absl::Seconds(5));
  script.Step(StreamClosed{script.stream, absl::UnavailableError("gone")});
  script.Pass(absl::Minutes(1));
  const wire::Hello hello = script.Sent<wire::Hello>().back();
  ASSERT_TRUE(hello.incident.has_value());
  EXPECT_EQ(hello.incident->incident, kIncidentOfEnd);
  EXPECT_FALSE(hello.incident->concluded);
  EXPECT_EQ(hello.incident->process_incarnation, "4211@100");
  script.Welcome();
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(script.Sent<wire::Heartbeat>().back().process_incarnation, "4211@100");
}

TEST(AgentCoreEnd, TriesOftenAtTheEndAndOnlyThen) {
  EndScript script;
  const auto fail = [&script] {
    script.Step(StreamClosed{script.stream, absl::UnavailableError("nobody")});
  };
  for (int i = 0; i < 10; ++i) {
    fail();
    script.Pass(kLongestBackoff);
  }
  fail();
  script.End(std::nullopt, 9);
  const int before = script.connects;
  for (int i = 0; i < 20; ++i) {
    script.Pass(kFirstBackoff);
    fail();
  }
  const int tries = script.connects - before;
  EXPECT_GE(tries, 8);   // within the first five seconds
  EXPECT_LE(tries, 13);  // and as before in the five that follow
}

TEST(AgentCoreEnd, WhomTheCoordinatorRefusesHasNobodyToTell) {
  EndScript script;
  script.Step(StreamClosed{script.stream, absl::AlreadyExistsError("a newer agent")});
  script.End(1, std::nullopt);
  EXPECT_TRUE(script.MayEnd());
}

TEST(AgentCoreEnd, AProcessThatFollowsIsWatchedOn) {
  EndScript script;
  script.Welcome();
  script.End(0, std::nullopt);
  ProcessSample next;
  next.id = {4300, 900};
  next.state = ProcessState::kRunning;
  script.host.Of<ProcessReading>()->process = next;
  script.Step(HostSampled{0, script.host});
  EXPECT_FALSE(script.MayEnd());
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/core/restored_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/limits.h"
#include "tests/support/core_script.h"

namespace rapideye::agent {
namespace {

using ::testing::Optional;

constexpr char kOne[] = "20260131T235959Z-00000001";
constexpr char kOther[] = "20260131T235959Z-00000002";

class IncidentMemoryTest : public testing::Test {
 protected:
  // A worker in a launch, seen and welcome.
  IncidentMemoryTest() {
    script_.reading = Serving({Running(0, "aa", 1, 5)});
    script_.Welcome();
    script_.Pass(absl::Seconds(6));
  }

  void Collect(std::optional<std::string> incident) {
    script_.Receive(wire::Collect{1, true, absl::Seconds(2), std::move(incident)});
  }
  // Returns the memory of incidents that the next Hello states.
  std::optional<wire::IncidentMemory> Told() {
    script_.Step(StreamClosed{script_.stream, absl::UnavailableError("gone")});
    const int connects = script_.connects;
    while (script_.connects == connects) script_.Pass(absl::Milliseconds(50));
    script_.Welcome();
    return script_.Sent<wire::Hello>().back().incident;
  }
  std::string Process() const { return *script_.Describe().incarnation; }

  CoreScript script_;
};

TEST_F(IncidentMemoryTest, NothingToRememberInHealth) { EXPECT_EQ(Told(), std::nullopt); }

TEST_F(IncidentMemoryTest, RemembersWhatItCollectedForAndWhetherItIsConcluded) {
  Collect(kOne);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
  // A second request for the same incident leaves it concluded.
  Collect(kOne);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
  Collect(kOther);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOther, false, Process()}));
}

TEST_F(IncidentMemoryTest, CollectionForNoIncidentLeavesNoTrace) {
  Collect(std::nullopt);
  EXPECT_EQ(Told(), std::nullopt);
  Collect(kOne);
  Collect(std::nullopt);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
}

TEST_F(IncidentMemoryTest, ALaunchThatCompletesEndsIt) {
  Collect(kOne);
  script_.reading = Serving({Running(0, "aa", 1, 9)});  // the pc moves: no completion
  script_.Pass(absl::Seconds(6));
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(6));
  EXPECT_EQ(Told(), std::nullopt);
}

// A coordinator that comes later learns its thresholds from these times.
TEST_F(IncidentMemoryTest, WhatAHangTookIsNoMeasureOfLaunches) {
  const auto longest_of = [this](const std::string& program, bool concluded) {
    script_.reading = Serving({Running(0, program, 1, 5)});
    script_.Pass(absl::Seconds(6));
    Collect(kOne);
    if (concluded) script_.Receive(wire::Concluded{kOne});
    script_.Pass(absl::Minutes(10));
    script_.reading = Serving({Running(0, program, 2, 5)});
    script_.Pass(absl::Seconds(6));
    return script_.Sent<wire::Heartbeat>().back().programs.back().longest.value();
  };
  EXPECT_GE(longest_of("bb", /*concluded=*/false), absl::Minutes(10));  // only looked at
  EXPECT_LE(longest_of("cc", /*concluded=*/true), absl::Seconds(20));
}

TEST_F(IncidentMemoryTest, AnotherProcessEndsIt) {
  Collect(kOne);
  script_.Receive(wire::Concluded{kOne});
  const RuntimeReading serving = script_.reading;
  script_.reading = NotServing(RuntimeState::kUnavailable, "connection refused");
  script_.Pass(absl::Seconds(6));
  EXPECT_TRUE(Told().has_value());  // the end of the process ends the hang, and cures nothing
  script_.reading = serving;
  script_.Pass(absl::Seconds(6));
  EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(IncidentMemoryTest, ConcludedWithoutItIsForThoseWhoStandStill) {
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(6));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_EQ(Told(), std::nullopt);
  script_.Pass(absl::Seconds(30));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
}

TEST_F(IncidentMemoryTest, EveryStreamHasAHigherNumber) {
  Told();
  Told();
  const auto hellos = script_.Sent<wire::Hello>();
  ASSERT_EQ(hellos.size(), 3u);
  EXPECT_EQ(hellos[0].connection, 1);
  EXPECT_EQ(hellos[2].connection, 3);
}

TEST(IncidentMemory, RestoredIsForTheSameProcessOnly) {
  IncidentMemory memory;
  memory.Restore(wire::IncidentMemory{kOne, true, "17@4"});
  memory.Watching("17@4");
  EXPECT_TRUE(memory.memory().has_value());
  memory.Watching("18@9");
  EXPECT_FALSE(memory.memory().has_value());
}

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHeldIncident[] = "20260131T235959Z-00000001";
const absl::Duration kThen = absl::Hours(50);

wire::Hello Self() {
  wire::Hello hello;
  hello.job = "job";
  hello.worker = {1, 2};
  hello.host = "host-1-2";
  hello.job_incarnation = "7";
  return hello;
}

Snapshot Stuck(int32_t launch, int64_t pc) {
  Snapshot snapshot;
  snapshot.incarnation = "17@4";
  snapshot.programs.push_back({std::nullopt, "aa"});
  Core core;
  core.chip = 0;
  core.program = 0;
  core.launch_id = launch;
  core.stuck_ms = 1000;
  Sequencer sequencer;
  sequencer.pc = pc;
  sequencer.frozen_ms = 900;
  core.sequencers.push_back(sequencer);
  snapshot.cores.push_back(core);
  return snapshot;
}

SavedState Kept() {
  SavedState kept;
  kept.kept_at = kThen;
  kept.hello = Self();
  kept.hello.incident = wire::IncidentMemory{kHeldIncident, true, "17@4"};
  kept.snapshot = Stuck(5, 0x40);
  kept.snapshot->programs[0].module = "jit_step";
  kept.snapshot->cores[0].sequencers[0].hlo = "all-reduce.3";
  LogEvent line;
  line.kind = LogKind::kHangDetected;
  line.text = "hang";
  line.age_ms = 500;
  kept.snapshot->log_events.push_back(line);
  kept.alarms.push_back({wire::AlarmKind::kHangLine, "hang"});
  return kept;
}

Instant After(absl::Duration time) { return {kThen + time, absl::UnixEpoch() + absl::Hours(9)}; }

Snapshot Described(const RestoredState& restored, Snapshot snapshot) {
  restored.Describe(After(absl::Seconds(10)), snapshot);
  return snapshot;
}

TEST(RestoredState, StandsInForARuntimeThatShowsNothing) {
  RestoredState restored(Kept(), Self());
  restored.Watching("17@4");
  const Snapshot snapshot = Described(restored, Snapshot());
  EXPECT_EQ(snapshot.incarnation, "17@4");
  ASSERT_THAT(snapshot.cores, SizeIs(1));
  EXPECT_EQ(snapshot.cores[0].stuck_ms, 11'000);
  EXPECT_EQ(snapshot.cores[0].sequencers[0].frozen_ms, 10'900);
  EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo, "all-reduce.3");
  ASSERT_THAT(snapshot.log_events, SizeIs(1));
  EXPECT_EQ(snapshot.log_events[0].age_ms, 10'500);
}

// The training process can write the file of the saved state.
TEST(RestoredState, LinesOfTheKernelAndErrorCountsAreNotRestored) {
  SavedState kept = Kept();
  LogEvent forged;
  forged.kind = LogKind::kKernelHardware;
  forged.source = LogSource::kKernelLog;
  forged.text = "PCIe Bus Error: severity=Uncorrected (Fatal)";
  forged.age_ms = 500;
  kept.snapshot->log_events.push_back(forged);
  kept.snapshot->pcie.push_back({0, 7, 0, 0});
  RestoredState restored(kept, Self());
  restored.Watching("17@4");
  const Snapshot snapshot = Described(restored, Snapshot());
  ASSERT_THAT(snapshot.log_events, SizeIs(1));
  EXPECT_EQ(snapshot.log_events[0].text, "hang");
  EXPECT_THAT(snapshot.pcie, IsEmpty());
}

TEST(RestoredState, AddsHloAndAgesWhereItStillStands) {
  RestoredState restored(Kept(), Self());
  restored.Watching("17@4");
  const Snapshot snapshot = Described(restored, Stuck(5, 0x40));
  EXPECT_EQ(snapshot.cores[0].stuck_ms, 11'000);
  EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo, "all-reduce.3");
  EXPECT_EQ(snapshot.programs[0].module, "jit_step");
}

TEST(RestoredState, AddsNothingWhereItHasMoved) {
  RestoredState restored(Kept(), Self());
  restored.Watching("17@4");
  const Snapshot other_launch = Described(restored, Stuck(6, 0x40));
  EXPECT_EQ(other_launch.cores[0].stuck_ms, 1000);
  EXPECT_FALSE(other_launch.cores[0].sequencers[0].hlo.has_value());
  const Snapshot other_pc = Described(restored, Stuck(5, 0x44));
  EXPECT_EQ(other_pc.cores[0].stuck_ms, 11'000);  // the launch is the same
  EXPECT_EQ(other_pc.cores[0].sequencers[0].frozen_ms, 900);
  EXPECT_FALSE(other_pc.cores[0].sequencers[0].hlo.has_value());
}

TEST(RestoredState, NothingOfAnotherProcess) {
  RestoredState restored(Kept(), Self());
  restored.Watching("18@9");
  EXPECT_THAT(Described(restored, Snapshot()).cores, IsEmpty());
  EXPECT_FALSE(restored.Incident().has_value());
  EXPECT_THAT(restored.TakeAlarms(kThen), IsEmpty());
}

TEST(RestoredState, NothingOfAnotherWorkerOrIncarnationOfTheJob) {
  wire::Hello other = Self();
  other.worker = {1, 3};
  EXPECT_FALSE(RestoredState(Kept(), other).Incident().has_value());
  other = Self();
  other.job_incarnation = "8";
  EXPECT_FALSE(RestoredState(Kept(), other).Incident().has_value());
  other = Self();
  other.job = "other";
  EXPECT_FALSE(RestoredState(Kept(), other).Incident().has_value());
  EXPECT_TRUE(RestoredState(Kept(), Self()).Incident().has_value());
}

TEST(RestoredState, ProgressEndsIt) {
  RestoredState restored(Kept(), Self());
  restored.Watching("17@4");
  restored.Progressed();
  EXPECT_THAT(Described(restored, Snapshot()).cores, IsEmpty());
}

TEST(RestoredState, GrowsOldAndSoonerWhileNoProcessIsSeen) {
  RestoredState restored(Kept(), Self());
  restored.Expire(kThen + kKeepUnseenFor);
  EXPECT_TRUE(restored.Incident().has_value());
  restored.Watching("17@4");
  restored.Expire(kThen + kKeepUnseenFor + absl::Seconds(1));
  EXPECT_TRUE(restored.Incident().has_value());
  restored.Expire(kThen + kKeepStateFor + absl::Seconds(1));
  EXPECT_FALSE(restored.Incident().has_value());

  RestoredState unseen(Kept(), Self());
  unseen.Expire(kThen + kKeepUnseenFor + absl::Seconds(1));
  EXPECT_FALSE(unseen.Incident().has_value());
  RestoredState of_another_boot(Kept(), Self());
  of_another_boot.Expire(kThen - absl::Seconds(1));
  EXPECT_FALSE(of_another_boot.Incident().has_value());
}

TEST(RestoredState, AlarmsAreToldOnceAndNotLate) {
  RestoredState restored(Kept(), Self());
  EXPECT_THAT(restored.TakeAlarms(kThen + absl::Seconds(5)), IsEmpty());
  restored.Watching("17@4");
  EXPECT_THAT(restored.TakeAlarms(kThen + absl::Seconds(5)), SizeIs(1));
  EXPECT_THAT(restored.TakeAlarms(kThen + absl::Seconds(5)), IsEmpty());
  RestoredState late(Kept(), Self());
  late.Watching("17@4");
  EXPECT_THAT(late.TakeAlarms(kThen + kKeepAlarmFor + absl::Seconds(1)), IsEmpty());
}

// Tests of an agent that hands over to the next one, as two cores.

HostReading ProcessAlive() {
  HostReading host;
  ProcessSample& process = host.Of<ProcessReading>().emplace().process.emplace();
  process.id = {17, 4};
  process.command = "python3";
  process.state = ProcessState::kSleeping;
  return host;
}

AgentSettings Keeping(std::optional<SavedState> kept = std::nullopt) {
  AgentSettings settings =
      CoreScript::Settings(absl::Seconds(5), /*seed=*/1, /*watches_host=*/true);
  settings.keeps_state = true;
  settings.kept = std::move(kept);
  return settings;
}

// A worker in a launch, from its first poll on.
class Agent : public CoreScript {
 public:
  explicit Agent(std::optional<SavedState> inherited = std::nullopt,
                 RuntimeReading runtime = Serving({Running(0, "aa", 1, 5)}),
                 HostReading process = ProcessAlive())
      : CoreScript(Keeping(inherited), inherited ? inherited->kept_at + absl::Seconds(5) : kThen,
                   nullptr) {
    host = std::move(process);
    reading = std::move(runtime);
    reading_with_hlo = Serving({WithHlo(Running(0, "aa", 1, 5), "all-reduce.3", "jit_step")});
    Step(Wake{});
  }
};

// State after a long freeze in a launch, the detailed sample taken; `welcome`: incident concluded.
SavedState LeftByAnAgentThatSawAHang(bool welcome) {
  Agent script;
  if (welcome) {
    script.Welcome();
    script.Receive(wire::Collect{1, true, absl::Seconds(2), kHeldIncident});
    script.Receive(wire::Concluded{kHeldIncident});
  }
  script.Pass(absl::Seconds(30));
  script.Step(ShutdownRequested{});
  EXPECT_FALSE(script.kept.empty());
  return script.kept.back();
}

TEST(AgentCoreKeeps, TheNextAgentHasTheHloOfARuntimeThatNoLongerAnswers) {
  const SavedState kept = LeftByAnAgentThatSawAHang(false);
  Agent next(kept, NotServing(RuntimeState::kTimedOut, "no answer"));
  const Snapshot snapshot = next.Describe();
  ASSERT_THAT(snapshot.cores, SizeIs(1));
  EXPECT_EQ(snapshot.cores[0].sequencers[0].hlo, "all-reduce.3");
  EXPECT_GT(snapshot.cores[0].stuck_ms.value_or(0), 34'000);
  EXPECT_EQ(snapshot.runtime.state, RuntimeState::kTimedOut);
}

TEST(AgentCoreKeeps, TheNextAgentRemembersTheIncident) {
  const SavedState kept = LeftByAnAgentThatSawAHang(true);
  Agent next(kept);
  const auto hellos = next.Sent<wire::Hello>();
  ASSERT_THAT(hellos, SizeIs(1));
  EXPECT_EQ(hellos[0].incident, (wire::IncidentMemory{kHeldIncident, true, "17@4"}));
}

TEST(AgentCoreKeeps, AnotherProcessInheritsNothing) {
  const SavedState kept = LeftByAnAgentThatSawAHang(true);
  HostReading other = ProcessAlive();
  other.Of<ProcessReading>()->process->id = {18, 9};
  Agent next(kept, NotServing(RuntimeState::kTimedOut, "no answer"), other);
  EXPECT_THAT(next.Describe().cores, IsEmpty());
  // The next agent leaves no state of that process either.
  ASSERT_FALSE(next.kept.empty());
  EXPECT_TRUE(next.kept.back().Empty());
}

TEST(AgentCoreKeeps, AHealthyWorkerLeavesNothing) {
  Agent script(std::nullopt, Serving({Idle(0)}));
  script.Pass(absl::Seconds(20));
  EXPECT_THAT(script.kept, IsEmpty());
  script.Step(ShutdownRequested{});
  ASSERT_THAT(script.kept, SizeIs(1));
  EXPECT_TRUE(script.kept[0].Empty());
}

TEST(AgentCoreKeeps, CommandsWithoutEndDoNotWearOutTheDisk) {
  Agent script;
  script.Welcome();
  for (int i = 0; i < 1000; ++i) {
    script.Receive(wire::Collect{i + 1, true, absl::Seconds(2),
                                 i % 2 == 0 ? kHeldIncident : "20260131T235959Z-00000002"});
  }
  EXPECT_THAT(script.kept, SizeIs(testing::Le(1)));
  script.Pass(absl::Seconds(2));
  EXPECT_THAT(script.kept, SizeIs(testing::Le(2)));
  EXPECT_EQ(script.kept.back().hello.incident->incident, "20260131T235959Z-00000002");
}

TEST(AgentCoreKeeps, AlarmThatFoundNoCoordinatorIsToldByTheNextAgent) {
  Agent script;
  script.Pass(absl::Seconds(6));
  logs::LogLine line;
  line.event.kind = LogKind::kHangDetected;
  line.event.text = "hang";
  line.key = "hang";
  logs::LogReading logs;
  logs.lines.push_back(line);
  script.Step(LogsRead{logs});
  script.Step(ShutdownRequested{});
  ASSERT_THAT(script.kept, SizeIs(1));
  Agent next(script.kept[0]);
  next.Welcome();
  next.Pass(absl::Seconds(10));
  const auto alarms = next.Sent<wire::Alarm>();
  ASSERT_THAT(alarms, SizeIs(1));
  EXPECT_EQ(alarms[0].text, "hang");
}

TEST(AgentCoreKeeps, AlarmThatWentDownWithItsStreamIsToldByTheNextAgent) {
  for (const bool arrived : {false, true}) {
    Agent script;
    script.Welcome();
    script.Pass(absl::Seconds(6));
    logs::LogLine line;
    line.event.kind = LogKind::kHangDetected;
    line.event.text = "hang";
    line.key = "hang";
    script.Step(LogsRead{{{line}, {}}});
    ASSERT_THAT(script.Sent<wire::Alarm>(), SizeIs(1));
    if (arrived) script.Receive(wire::Collect{1, true, absl::Seconds(2), kHeldIncident});
    script.Step(StreamClosed{script.stream, absl::UnavailableError("gone")});
    script.Step(ShutdownRequested{});
    ASSERT_FALSE(script.kept.empty());
    EXPECT_THAT(script.kept.back().alarms, SizeIs(arrived ? 0 : 1));
  }
}

}  // namespace
}  // namespace rapideye::agent

// Tests of how the agent reads what the host shows of the training process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/limits.h"
#include "agent/sources/stacks/limits.h"
#include "tests/support/host_script.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AgentCoreHostTest, TheIncarnationIsTheProcess) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  EXPECT_EQ(script.Describe().processes.at(0).pid, 4211);
  script.process() = HostScript::Alive({4300, 900}, 0);
  script.Launch(2);
  EXPECT_EQ(script.Sent<wire::Heartbeat>().back().process_incarnation, "4300@900");
  EXPECT_EQ(script.Describe().incarnation, "4300@900");
}

TEST(AgentCoreHostTest, WhatTheLoopSaysIsToldAndGrowsOld) {
  HostScript script;
  script.Welcome();
  script.host.Of<ProgressReading>() =
      ProgressReading{ProgressSample{12, Phase::kInput, absl::Seconds(3), absl::Seconds(2)}, ""};
  script.host.Of<ProgressReading>()->progress->devices = {6, 7};
  script.Launch(1);
  script.Pass(absl::Seconds(1));
  const wire::Heartbeat heartbeat = script.Sent<wire::Heartbeat>().back();
  ASSERT_TRUE(heartbeat.progress.has_value());
  EXPECT_EQ(heartbeat.progress->step, 12);
  EXPECT_EQ(heartbeat.progress->phase, Phase::kInput);
  const Snapshot snapshot = script.Describe();
  EXPECT_EQ(snapshot.devices, (std::vector<int64_t>{6, 7}));
  ASSERT_TRUE(snapshot.progress.has_value());
  const int64_t since_look = *snapshot.progress->phase_ms - 3'000;
  EXPECT_GT(since_look, 0);
  EXPECT_EQ(snapshot.progress->input_wait_ms, 2'000 + since_look);
  // The agent no longer believes a page that cannot be read, and warns of it once.
  script.host.Of<ProgressReading>() = ProgressReading{std::nullopt, "its writer has ended"};
  script.logs.clear();
  script.Launch(2);
  script.Launch(3);
  EXPECT_FALSE(script.Describe().progress.has_value());
  EXPECT_FALSE(script.Sent<wire::Heartbeat>().back().progress.has_value());
  EXPECT_THAT(script.logs, SizeIs(1));
}

TEST(AgentCoreHostTest, WorkIsToldOnceItsRhythmIsKnownAndShownWhereNothingElseTells) {
  HostScript script;
  script.Welcome();
  script.reading = RuntimeReading{{RuntimeState::kUnavailable, "nobody listens"}, std::nullopt};
  script.host.Of<ProcessReading>()->work = ProcessWork{.io_bytes = 0};
  script.Pass(absl::Seconds(5));
  EXPECT_FALSE(script.Sent<wire::Heartbeat>().back().activity.has_value());
  for (size_t i = 0; i <= kActivityWindows; ++i) {
    *script.host.Of<ProcessReading>()->work->io_bytes += 400'000;
    script.Pass(absl::Seconds(5));
  }
  const wire::Heartbeat heartbeat = script.Sent<wire::Heartbeat>().back();
  ASSERT_TRUE(heartbeat.activity.has_value());
  EXPECT_EQ(heartbeat.activity->signal, wire::ProcessActivitySignal::kInputOutput);
  EXPECT_TRUE(script.Describe().work.has_value());
  EXPECT_LT(script.Describe().only_waits_ms, 5'000);
  script.Pass(absl::Seconds(60));
  EXPECT_GE(script.Describe().work->since_ms, 55'000);
  EXPECT_GE(script.Describe().only_waits_ms, 55'000);
  EXPECT_GE(script.Sent<wire::Heartbeat>().back().activity->since_advance, absl::Seconds(55));
  script.Launch(1);
  EXPECT_FALSE(script.Describe().work.has_value());
  EXPECT_FALSE(script.Describe().only_waits_ms.has_value());
}

TEST(AgentCoreHostTest, StepsOfTheLogAreToldWhileTheProcessLives) {
  HostScript script;
  script.Welcome();
  script.Pass(absl::Seconds(5));
  logs::LogReading reading;
  reading.steps = logs::StepReading{12, 3};
  script.Step(LogsRead{reading});
  script.Pass(absl::Seconds(5));
  const wire::Heartbeat heartbeat = script.Sent<wire::Heartbeat>().back();
  ASSERT_TRUE(heartbeat.step_lines.has_value());
  EXPECT_EQ(heartbeat.step_lines->step, 12);
  EXPECT_EQ(heartbeat.step_lines->advances, 3);
  EXPECT_EQ(script.Describe().progress->step, 12);
  // The page's step counts before the log's; where the page states no step, the log's stays.
  script.host.Of<ProgressReading>() = ProgressReading{
      ProgressSample{std::nullopt, Phase::kStep, absl::Seconds(3), std::nullopt}, ""};
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(script.Describe().progress->step, 12);
  EXPECT_EQ(script.Describe().progress->phase, Phase::kStep);
  script.host.Of<ProgressReading>()->progress->step = 40;
  script.Pass(absl::Seconds(5));
  EXPECT_EQ(script.Describe().progress->step, 40);
  EXPECT_FALSE(script.Describe().progress->step_ms.has_value());
  script.End(0, std::nullopt);
  script.Pass(absl::Seconds(5));
  EXPECT_FALSE(script.Sent<wire::Heartbeat>().back().step_lines.has_value());
}

TEST(AgentCoreHostTest, APageBetweenTwoPhasesTellsWhenItChanged) {
  HostScript script;
  script.Welcome();
  ProgressSample sample;
  sample.step = 7;
  script.host.Of<ProgressReading>() = ProgressReading{sample, ""};
  script.Pass(absl::Seconds(5));
  // It was found so, and may have stood for long.
  EXPECT_FALSE(script.Describe().progress->phase_ms.has_value());
  script.host.Of<ProgressReading>()->progress->step = 8;
  script.Pass(absl::Seconds(5));
  const std::optional<int64_t> since = script.Describe().progress->phase_ms;
  ASSERT_TRUE(since.has_value());
  EXPECT_LT(*since, 5'000);
  script.Pass(absl::Seconds(40));
  EXPECT_EQ(script.Describe().progress->phase_ms, *since + 40'000);
  // The phase's own time counts where there is one.
  script.host.Of<ProgressReading>()->progress->phase = Phase::kStep;
  script.host.Of<ProgressReading>()->progress->phase_for = absl::Minutes(2);
  script.Pass(absl::Seconds(5));
  EXPECT_GE(*script.Describe().progress->phase_ms, 120'000);
}

TEST(AgentCoreHostTest, TheStartUpIsToldUntilALaunchHasCompleted) {
  HostScript script;
  script.Welcome();
  StartUpReading& start_up = script.host.Of<StartUpReading>().emplace();
  start_up.process = true;
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kNoDriver;
  obstacle.subject = "0000:05:00.0";
  start_up.obstacles = {obstacle};
  script.Pass(absl::Seconds(5));
  wire::Heartbeat heartbeat = script.Sent<wire::Heartbeat>().back();
  ASSERT_TRUE(heartbeat.start_up.has_value());
  EXPECT_TRUE(heartbeat.start_up->process_ms.has_value());
  EXPECT_FALSE(heartbeat.start_up->coordination_ms.has_value());
  EXPECT_THAT(heartbeat.start_up->obstacles, SizeIs(1));
  EXPECT_EQ(script.Describe().start_up->obstacles.size(), 1U);
  // The runtime answers with cores; a first launch runs, and completes.
  script.Launch(1);
  EXPECT_TRUE(script.Sent<wire::Heartbeat>().back().start_up->device_ms.has_value());
  script.Launch(2);
  script.Launch(3);
  EXPECT_FALSE(script.Sent<wire::Heartbeat>().back().start_up.has_value());
  EXPECT_FALSE(script.Describe().start_up.has_value());
}

TEST(AgentCoreHostTest, WhoEndsOnPurposeSaysSo) {
  for (const bool on_purpose : {true, false}) {
    HostScript script;
    script.Welcome();
    script.Launch(1);
    script.End(on_purpose ? 0 : 1, std::nullopt);
    script.Step(ShutdownRequested{});
    EXPECT_THAT(script.Sent<wire::Leaving>(), SizeIs(on_purpose ? 1 : 0));
  }
}

// An agent that is replaced while its process lives comes back.
TEST(AgentCoreHostTest, WhoseProcessLivesDoesNotLeave) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  script.Step(ShutdownRequested{});
  EXPECT_THAT(script.Sent<wire::Leaving>(), IsEmpty());
}

TEST(AgentCoreHostTest, MetricsOfAStandstillEndWithIt) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  script.Launch(2);
  Metric metric;
  metric.name = "queue";
  script.host.Of<MetricsReading>() = MetricsReading{{metric}, "127.0.0.1:2112: nobody listens"};
  script.logs.clear();
  script.Launch(2);
  script.host.Of<MetricsReading>().reset();  // as in health
  script.Launch(2);
  ASSERT_THAT(script.Describe().metrics, SizeIs(1));
  EXPECT_EQ(script.Describe().metrics[0].name, "queue");
  EXPECT_THAT(script.logs, SizeIs(1));
  script.Launch(3);
  EXPECT_THAT(script.Describe().metrics, IsEmpty());
}

TEST(AgentCoreHostTest, APauseThatWasAnnouncedSaysNothingOfOthers) {
  HostScript script;
  script.Welcome(absl::Hours(1));
  const auto announce = [&](Phase phase) {
    script.host.Of<ProgressReading>() =
        ProgressReading{ProgressSample{1, phase, absl::Seconds(1), std::nullopt}, ""};
  };
  const auto pause = [&](absl::Duration time) {
    script.reading = Serving({Idle(0)});
    script.Pass(time);
  };
  announce(Phase::kStep);
  script.Launch(1);
  script.Launch(2);
  pause(absl::Seconds(20));
  script.Launch(3);
  announce(Phase::kCheckpoint);
  pause(absl::Seconds(60));
  announce(Phase::kStep);  // the loop has gone on before its launch is seen
  pause(absl::Seconds(5));
  script.Launch(4);
  pause(absl::Seconds(10));
  script.Launch(5);
  const wire::Heartbeat heartbeat = script.Sent<wire::Heartbeat>().back();
  EXPECT_EQ(heartbeat.longest_pause, absl::Seconds(65));
  EXPECT_EQ(heartbeat.longest_unannounced_pause, absl::Seconds(20));
}

TEST(AgentCoreHostTest, CpuTimeCountsSinceTheLastProgress) {
  HostScript script;
  script.process().cpu_ms = 5'000;
  script.Launch(1);
  script.process().cpu_ms = 7'000;
  script.Launch(2);
  EXPECT_EQ(script.Describe().processes.at(0).cpu_ms, 0);
  script.process().cpu_ms = 7'600;
  script.Launch(2);
  EXPECT_EQ(script.Describe().processes.at(0).cpu_ms, 600);
}

TEST(AgentCoreHostTest, ACoreThatReportsAnErrorRaisesTheAlarmOnce) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  EXPECT_THAT(script.SentAlarms(), IsEmpty());
  CoreSample halted = Running(0, "aa", 1, 7);
  halted.error = "Core halted unexpectedly";
  script.reading = Serving({halted});
  script.Pass(absl::Minutes(1));
  ASSERT_THAT(script.SentAlarms(), SizeIs(1));
  EXPECT_EQ(script.SentAlarms()[0].kind, wire::AlarmKind::kCoreHalt);
}

wire::Collect CollectFor(int64_t number, const char* incident) {
  return {number, /*credit=*/true, absl::Seconds(10), incident};
}

constexpr char kIncident[] = "20260131T235959Z-0123abcd";

// Looks so far that asked for stacks.
std::vector<StackLook> StackLooks(const HostScript& script) {
  std::vector<StackLook> looks;
  for (const auto& seen : script.polls) {
    if (seen.poll.look.stacks != StackLook::kNone) looks.push_back(seen.poll.look.stacks);
  }
  return looks;
}

TEST(AgentCoreHostTest, StacksAreTakenOncePerIncidentAndTold) {
  HostScript script;
  script.stacks = StackReading{{{"MainThread", {"main (train.py:3)"}}}, "eu-stack is not there"};
  script.Welcome();
  script.Launch(1);
  script.Pass(absl::Minutes(2));
  EXPECT_THAT(StackLooks(script), IsEmpty());
  script.Receive(CollectFor(2, kIncident));
  script.Receive(CollectFor(3, kIncident));
  script.Pass(absl::Seconds(10));
  EXPECT_THAT(StackLooks(script), ElementsAre(StackLook::kStopping));
  const Snapshot snapshot = script.Sent<wire::SnapshotReply>().back().snapshot;
  ASSERT_THAT(snapshot.stacks, SizeIs(1));
  EXPECT_EQ(snapshot.stacks[0].thread, "MainThread");
  EXPECT_EQ(snapshot.stacks_missing, "eu-stack is not there");
}

TEST(AgentCoreHostTest, ASnapshotForAnOperatorHasStacksAndStopsNobody) {
  HostScript script;
  script.stacks = StackReading{{{"MainThread", {"main (train.py:3)"}}}, ""};
  script.Welcome();
  script.Launch(1);
  script.Pass(absl::Minutes(2));
  script.Receive(wire::Collect{1, true, absl::Seconds(10)});
  script.Launch(2, absl::Seconds(1));  // the job advances between the two looks
  script.Pass(absl::Milliseconds(500));
  script.Receive(wire::Collect{2, true, absl::Seconds(10)});
  script.Pass(absl::Seconds(10));
  EXPECT_THAT(StackLooks(script), ElementsAre(StackLook::kReading));
  EXPECT_THAT(script.Sent<wire::SnapshotReply>().back().snapshot.stacks, SizeIs(1));
}

TEST(AgentCoreHostTest, WhoeverAdvancesIsNotStopped) {
  HostScript script;
  script.Welcome(/*attention_after=*/absl::Seconds(10));
  script.Launch(1);
  script.Pass(absl::Seconds(5));
  script.Receive(CollectFor(1, kIncident));  // a hang line that is wrong
  script.Pass(absl::Seconds(1));
  EXPECT_THAT(StackLooks(script), ElementsAre(StackLook::kReading));

  // The same with progress told by the progress page.
  HostScript page;
  page.Welcome(/*attention_after=*/absl::Seconds(10));
  ProgressSample sample;
  sample.step = 7;
  sample.phase = Phase::kStep;
  page.host.Of<ProgressReading>() = ProgressReading{sample, ""};
  page.Pass(absl::Minutes(1));
  page.host.Of<ProgressReading>()->progress->step = 8;
  page.Pass(absl::Seconds(10));
  page.Receive(CollectFor(1, kIncident));
  page.Pass(absl::Minutes(2));
  page.Receive(CollectFor(2, "20260131T235959Z-0123abce"));
  EXPECT_THAT(StackLooks(page), ElementsAre(StackLook::kReading, StackLook::kStopping));
  // A pause that the page announces may take its time.
  page.host.Of<ProgressReading>()->progress->phase = Phase::kCheckpoint;
  page.Pass(absl::Minutes(2));
  page.Receive(CollectFor(3, "20260131T235959Z-0123abcf"));
  EXPECT_EQ(StackLooks(page).back(), StackLook::kIfIdle);
}

TEST(AgentCoreHostTest, WhereNothingTellsOfProgressTheProcessMustBeIdle) {
  HostScript script;
  script.reading = NotServing(RuntimeState::kUnavailable, "nobody listens");
  script.Welcome();
  script.Pass(absl::Minutes(2));
  script.Receive(CollectFor(1, kIncident));
  EXPECT_THAT(StackLooks(script), ElementsAre(StackLook::kIfIdle));
}

TEST(AgentCoreHostTest, OnlyTheSecondLookWaitsForStacksAndNotForLong) {
  HostScript script;
  script.stacks.reset();  // the stacks never come
  script.Welcome();
  script.Launch(1);
  script.Pass(absl::Minutes(2));
  script.Receive(CollectFor(1, kIncident));
  ASSERT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
  script.Pass(absl::Milliseconds(500));
  script.Receive(CollectFor(2, kIncident));
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
  script.Pass(kStackDeadline);
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(2));
}

LogsRead Said(LogKind kind, bool old = false) {
  logs::LogLine line;
  line.event.kind = kind;
  line.event.text = "what it says";
  line.key = "key";
  line.old = old;
  return LogsRead{{{line}, {}}};
}

TEST(AgentCoreHostTest, AHangLineAndAHaltRaiseTheAlarmAtOnce) {
  HostScript script;
  script.Welcome();
  script.Step(Said(LogKind::kFollowOn));
  script.Step(Said(LogKind::kCoreHalt, /*old=*/true));
  EXPECT_THAT(script.SentAlarms(), IsEmpty());
  script.Step(Said(LogKind::kHangDetected));
  script.Step(Said(LogKind::kHangDetected));
  script.Step(Said(LogKind::kHaltHardware));
  ASSERT_THAT(script.SentAlarms(), SizeIs(2));
  EXPECT_EQ(script.SentAlarms()[0].kind, wire::AlarmKind::kHangLine);
  EXPECT_EQ(script.SentAlarms()[0].text, "what it says");
  EXPECT_EQ(script.SentAlarms()[1].kind, wire::AlarmKind::kCoreHalt);
  script.Pass(kAlarmSpacing);
  script.Step(Said(LogKind::kHangDetected));
  EXPECT_THAT(script.SentAlarms(), SizeIs(3));
}

TEST(AgentCoreHostTest, FinalLinesOfAProcessGoWhenTheNextComes) {
  HostScript script;
  script.Launch(1);
  script.Step(Said(LogKind::kHaltHardware));
  script.End(1, std::nullopt);
  script.Pass(absl::Seconds(10));
  EXPECT_THAT(script.Describe().log_events, SizeIs(1));
  script.process() = HostScript::Alive({4300, 900}, 0);
  script.Pass(absl::Seconds(5));
  EXPECT_THAT(script.Describe().log_events, IsEmpty());
}

TEST(AgentCoreHostTest, SaysOnceWhyTheProcessIsNotSeen) {
  HostScript script;
  script.host.Of<ProcessReading>() = ProcessReading{std::nullopt, "belongs to another user"};
  script.Pass(absl::Minutes(1));
  int told = 0;
  for (const Log& log : script.logs) {
    if (log.text.find("another user") != std::string::npos) ++told;
  }
  EXPECT_EQ(told, 1);
}

TEST(AgentCoreHostTest, AHostThatDoesNotAnswerHoldsNothingUp) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  script.host_answers = false;
  const size_t before = script.Sent<wire::Heartbeat>().size();
  script.Launch(2, absl::Minutes(1));
  EXPECT_GE(script.Sent<wire::Heartbeat>().size(), before + 11);
  EXPECT_FALSE(script.stuck);
  script.Receive(wire::Collect{5, true, absl::Seconds(2)});
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
}

TEST(AgentCoreHostTest, ACollectionShowsTheHostAsItIsNow) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  script.host_answers = false;
  script.Receive(wire::Collect{5, true, absl::Seconds(2)});
  EXPECT_THAT(script.Sent<wire::SnapshotReply>(), IsEmpty());
  script.process().state = ProcessState::kStopped;
  script.AnswerHost();
  ASSERT_THAT(script.Sent<wire::SnapshotReply>(), SizeIs(1));
  EXPECT_EQ(script.Sent<wire::SnapshotReply>()[0].snapshot.processes.at(0).state,
            ProcessState::kStopped);
}

TEST(AgentCoreHostTest, ConnectionsAreToldOfWorkersThatTheCoordinatorKnows) {
  HostScript script;
  script.Welcome();
  const IpAddress peer = FromV4({10, 0, 1, 7});
  SocketReading sockets;
  sockets.strangers.push_back({peer, Socket()});
  script.host.Of<SocketReading>() = sockets;
  script.Launch(1);
  ASSERT_THAT(script.Sent<wire::WhoIs>(), SizeIs(1));
  EXPECT_THAT(script.Sent<wire::WhoIs>()[0].addresses, testing::ElementsAre(peer));
  EXPECT_THAT(script.Describe().sockets, IsEmpty());
  script.Receive(wire::Peers{{{peer, {1, 7}}}});
  script.Launch(2);
  ASSERT_THAT(script.Describe().sockets, SizeIs(1));
  EXPECT_EQ(script.Describe().sockets[0].peer, (WorkerId{1, 7}));
  // The coordinator is asked no more for a while.
  script.Launch(3);
  EXPECT_THAT(script.Sent<wire::WhoIs>(), SizeIs(1));
}

// A host with two chips, of which the first has met with errors before.
void ShowHardware(HostReading& host, int64_t fatal, std::vector<KernelLine> lines = {}) {
  host.Of<PcieReading>() = PcieReading{{{0, 7, 0, 0}, {1, fatal, 0, 0}}, ""};
  host.Of<KernelLogReading>() = KernelLogReading{std::move(lines), {}, ""};
}

TEST(AgentCoreHostTest, HardwareCountsOfAnotherAgentAreNotBelieved) {
  AgentSettings settings = CoreScript::Settings(absl::Seconds(5), 1, /*watches_host=*/true);
  settings.keeps_state = true;
  CoreScript first(settings, absl::Hours(100), nullptr);
  first.host.Of<ProcessReading>() = ProcessReading{HostScript::Alive({4211, 100}, 0), ""};
  ShowHardware(first.host, 0);
  first.Step(Wake{});
  first.Step(ShutdownRequested{});
  ASSERT_THAT(first.kept, testing::Not(IsEmpty()));

  settings.kept = first.kept.back();
  CoreScript next(settings, absl::Hours(101), nullptr);
  next.host = first.host;
  ShowHardware(next.host, 2);
  next.Step(Wake{});
  ASSERT_THAT(next.Describe().pcie, SizeIs(2));
  // The training process can write the state that an agent leaves: this agent's readings count.
  EXPECT_EQ(next.Describe().pcie[1].fatal, 0);
  ShowHardware(next.host, 3);
  next.Pass(absl::Hours(1));
  EXPECT_EQ(next.Describe().pcie[1].fatal, 1);
}

TEST(AgentCoreHostTest, CountersAreReadAtFirstForEachProcessAndInAHang) {
  HostScript script;
  script.Welcome();
  int looks = 0;
  const auto count = [&] {
    looks = 0;
    for (const auto& seen : script.polls) looks += seen.poll.look.counters ? 1 : 0;
    return looks;
  };
  for (int launch = 1; launch < 20; ++launch) script.Launch(launch);
  const int in_health = count();
  EXPECT_LE(in_health, 2);
  script.process() = HostScript::Alive({4300, 900}, 0);
  script.Launch(20);
  script.Launch(21);
  EXPECT_EQ(count(), in_health + 1);
  script.Receive(wire::Collect{.collection = 1, .credit = true, .deadline = absl::Seconds(5)});
  EXPECT_EQ(count(), in_health + 2);
}

TEST(AgentCoreHostTest, TheKernelsLogIsOfThisProcessAndSaysOnceWhyItIsNot) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  KernelLine line;
  line.line.event.kind = LogKind::kKernelHardware;
  line.line.event.source = LogSource::kKernelLog;
  line.line.key = "fatal";
  line.since_boot = absl::Hours(1);
  ShowHardware(script.host, 0, {line});
  script.Launch(2);
  script.host.Of<KernelLogReading>()->lines.clear();
  ASSERT_THAT(script.Describe().log_events, SizeIs(1));
  EXPECT_EQ(script.Describe().log_events[0].source, LogSource::kKernelLog);
  script.host.Of<KernelLogReading>()->unavailable = "/dev/kmsg: Operation not permitted";
  const size_t logs = script.logs.size();
  script.Launch(3);
  script.Launch(4);
  EXPECT_EQ(script.logs.size(), logs + 1);
}

TEST(AgentCoreHostTest, AHostWhoseAddressesChangeSaysHelloAnewButNotInAHang) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  const int connects = script.connects;
  script.host.Of<NicReading>() = NicReading{{}, "", {{{"eth1", FromV4({10, 0, 1, 7})}}}};
  script.Launch(2);
  EXPECT_EQ(script.connects, connects + 1);
  EXPECT_EQ(script.Sent<wire::Hello>().back().addresses, *script.host.Of<NicReading>()->addresses);
  script.Welcome();
  script.Launch(3);
  EXPECT_EQ(script.connects, connects + 1);
  // The job stands still: the change has to wait.
  script.Launch(3, absl::Seconds(30));
  script.host.Of<NicReading>() = NicReading{{}, "", {{{"eth2", FromV4({10, 0, 2, 7})}}}};
  script.Launch(3, absl::Seconds(30));
  EXPECT_EQ(script.connects, connects + 1);
  script.Launch(4);
  script.Launch(5);
  EXPECT_EQ(script.connects, connects + 2);
}

}  // namespace
}  // namespace rapideye::agent

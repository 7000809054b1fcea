// What the agent makes of what the host shows of the training process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/core_script.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostScript : public CoreScript {
 public:
  HostScript() : CoreScript(absl::Seconds(5), 1, /*watches_host=*/true) {
    host.process = ProcessReading{Alive({4211, 100}, 0), ""};
    AnswerWaiting();
  }

  static ProcessSample Alive(ProcessId id, int64_t cpu_ms) {
    ProcessSample sample;
    sample.id = id;
    sample.command = "python3";
    sample.state = ProcessState::kSleeping;
    sample.cpu_ms = cpu_ms;
    return sample;
  }

  // The runtime answers with another launch id each poll, or the same one.
  void Launch(int launch_id, absl::Duration time = absl::Seconds(5)) {
    reading = Serving({Running(0, "aa", launch_id, 7)});
    Pass(time);
  }

  ProcessSample& process() { return *host.process->process; }

  // As the watcher tells it, unasked.
  void End(std::optional<int32_t> exit_code, std::optional<int32_t> signal) {
    process().state = ProcessState::kExited;
    process().exit_code = exit_code;
    process().signal = signal;
    Step(HostSampled{0, host});
  }

  std::vector<wire::Alarm> SentAlarms() const { return Sent<wire::Alarm>(); }

 private:
  // The first poll was begun before the host had anything to say.
  void AnswerWaiting() { Pass(absl::Seconds(1)); }
};

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

TEST(AgentCoreHostTest, AKilledProcessRaisesTheAlarmAtOnceAndAges) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  script.Launch(2, absl::Seconds(6));
  script.End(std::nullopt, 9);
  ASSERT_THAT(script.SentAlarms(), SizeIs(1));
  EXPECT_EQ(script.SentAlarms()[0].kind, wire::AlarmKind::kProcessExit);
  EXPECT_EQ(script.SentAlarms()[0].text, "python3 (4211) was killed by signal 9");
  script.reading = NotServing(RuntimeState::kUnavailable, "nobody listens");
  script.Pass(absl::Seconds(20));
  EXPECT_THAT(script.SentAlarms(), SizeIs(1));
  const Process process = script.Describe().processes.at(0);
  EXPECT_EQ(process.state, ProcessState::kExited);
  EXPECT_EQ(process.signal, 9);
  EXPECT_EQ(process.exited_ms_ago, 20'000);
}

TEST(AgentCoreHostTest, AJobThatIsDoneRaisesNone) {
  HostScript done;
  done.Welcome();
  done.Launch(1);
  done.End(0, std::nullopt);
  EXPECT_THAT(done.SentAlarms(), IsEmpty());

  HostScript idle;  // how it ended is not known, but nothing ran
  idle.Welcome();
  idle.Launch(1);
  idle.reading = Serving({Idle(0)});
  idle.Pass(absl::Seconds(5));
  idle.End(std::nullopt, std::nullopt);
  EXPECT_THAT(idle.SentAlarms(), IsEmpty());

  HostScript in_midst;
  in_midst.Welcome();
  in_midst.Launch(1);
  in_midst.End(std::nullopt, std::nullopt);
  EXPECT_THAT(in_midst.SentAlarms(), SizeIs(1));
}

TEST(AgentCoreHostTest, AnAlarmWaitsForTheCoordinatorButNotForLong) {
  HostScript soon;
  soon.Launch(1);
  soon.End(1, std::nullopt);
  soon.Welcome();
  EXPECT_THAT(soon.SentAlarms(), SizeIs(1));

  HostScript late;
  late.Launch(1);
  late.End(1, std::nullopt);
  late.Pass(absl::Minutes(2));
  late.Welcome();
  EXPECT_THAT(late.SentAlarms(), IsEmpty());
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

LogsRead Said(LogKind kind, bool old = false) {
  LogLine line;
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

TEST(AgentCoreHostTest, LastWordsOfAProcessGoWhenTheNextComes) {
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
  script.host.process = ProcessReading{std::nullopt, "belongs to another user"};
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

}  // namespace
}  // namespace rapideye::agent

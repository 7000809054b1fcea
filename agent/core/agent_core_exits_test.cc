// Tests of which ends of the training process the agent tells at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "agent/core/limits.h"
#include "tests/support/host_script.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AgentCoreExitsTest, AKilledProcessRaisesTheAlarmAtOnceAndAges) {
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

TEST(AgentCoreExitsTest, AProcessGrowsOldFromItsStartOn) {
  HostScript script;
  script.Welcome();
  script.Launch(1);
  EXPECT_EQ(script.Describe().processes.at(0).started_ms_ago, std::nullopt);  // no source tells
  script.process() = HostScript::Alive({4400, 990}, 0);
  script.process().age_ms = 2'000;
  script.Step(HostSampled{0, script.host});
  EXPECT_EQ(script.Describe().processes.at(0).started_ms_ago, 2'000);
  // The age stays that of the moment when the process was first seen, also after its end.
  script.process().age_ms = 3'000;
  script.End(std::nullopt, 9);
  script.Pass(absl::Seconds(20));
  EXPECT_EQ(script.Describe().processes.at(0).started_ms_ago, 22'000);
  EXPECT_EQ(script.Describe().processes.at(0).exited_ms_ago, 20'000);
}

TEST(AgentCoreExitsTest, AJobThatIsDoneRaisesNone) {
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

// A new line of the log with the words of a victim.
logs::LogReading Says(const std::string& text) {
  logs::LogLine line;
  line.event.kind = LogKind::kFollowOn;
  line.event.text = text;
  line.key = text;
  logs::LogReading reading;
  reading.lines.push_back(std::move(line));
  return reading;
}

// The line and the end are seen in either order.
TEST(AgentCoreExitsTest, AnEndThatNobodySawRaisesTheAlarmWhereTheLogSaysWhy) {
  logs::LogReading reading =
      Says("F0101 client.h:80] Terminating process because the JAX distributed service");
  for (const bool line_first : {true, false}) {
    HostScript script;
    script.Welcome();
    if (line_first) script.Step(LogsRead{reading});
    script.End(std::nullopt, std::nullopt);
    if (!line_first) {
      EXPECT_THAT(script.SentAlarms(), IsEmpty());
      script.Step(LogsRead{reading});
    }
    ASSERT_THAT(script.SentAlarms(), SizeIs(1)) << line_first;
    EXPECT_EQ(script.SentAlarms()[0].kind, wire::AlarmKind::kProcessExit);
  }
  // The process is another container's: its log alone is seen.
  CoreScript log_alone(absl::Seconds(5), 1, /*watches_host=*/true);
  log_alone.Welcome();
  log_alone.Step(LogsRead{reading});
  EXPECT_THAT(log_alone.Sent<wire::Alarm>(), SizeIs(1));
  // Python's watchdog prints stacks, and the process may live on.
  reading.lines[0].event.text = "Timeout (0:05:00)!";
  log_alone.Pass(kAlarmSpacing);
  log_alone.Step(LogsRead{reading});
  EXPECT_THAT(log_alone.Sent<wire::Alarm>(), SizeIs(1));
  // A line from before the agent watched says nothing.
  reading = Says("F0101 client.h:80] Terminating process because the JAX distributed service");
  HostScript old;
  old.Welcome();
  reading.lines[0].old = true;
  old.Step(LogsRead{reading});
  old.End(std::nullopt, std::nullopt);
  EXPECT_THAT(old.SentAlarms(), IsEmpty());
}

// Python's watchdog may end its process right after it has printed stacks, or let it live.
TEST(AgentCoreExitsTest, AnEndThatNobodySawRightAfterTheWatchdogPrintedStacksRaisesTheAlarm) {
  const logs::LogReading reading = Says("Timeout (0:05:00)!");
  for (const bool line_first : {true, false}) {
    HostScript script;
    script.Welcome();
    if (line_first) script.Step(LogsRead{reading});
    script.End(std::nullopt, std::nullopt);
    if (!line_first) script.Step(LogsRead{reading});
    script.Pass(absl::Seconds(5));
    EXPECT_THAT(script.SentAlarms(), SizeIs(1)) << line_first;
  }
  HostScript lived_on;
  lived_on.Welcome();
  lived_on.Step(LogsRead{reading});
  lived_on.Pass(absl::Seconds(20));
  lived_on.End(std::nullopt, std::nullopt);
  EXPECT_THAT(lived_on.SentAlarms(), IsEmpty());
}

TEST(AgentCoreExitsTest, ABadEndRaisesTheAlarmThoughNothingWasEverLaunched) {
  HostScript killed;
  killed.Welcome();
  killed.End(std::nullopt, 9);
  EXPECT_THAT(killed.SentAlarms(), SizeIs(1));

  HostScript failed;
  failed.Welcome();
  failed.End(1, std::nullopt);
  EXPECT_THAT(failed.SentAlarms(), SizeIs(1));

  HostScript done;
  done.Welcome();
  done.End(0, std::nullopt);
  done.Pass(absl::Seconds(20));
  EXPECT_THAT(done.SentAlarms(), IsEmpty());

  HostScript unknown;
  unknown.Welcome();
  unknown.End(std::nullopt, std::nullopt);
  unknown.Pass(absl::Seconds(20));
  EXPECT_THAT(unknown.SentAlarms(), IsEmpty());
}

TEST(AgentCoreExitsTest, AProcessThatIsFoundDeadRaisesTheAlarmToo) {
  HostScript script;
  script.Welcome();
  script.process() = HostScript::Alive({4300, 900}, 0);
  script.End(std::nullopt, 11);
  ASSERT_THAT(script.SentAlarms(), SizeIs(1));
  EXPECT_EQ(script.SentAlarms()[0].text, "python3 (4300) was killed by signal 11");
}

TEST(AgentCoreExitsTest, WhatIsLearntOfAnEndLaterRaisesTheAlarmOnce) {
  HostScript script;
  script.Welcome();
  script.End(std::nullopt, std::nullopt);
  EXPECT_THAT(script.SentAlarms(), IsEmpty());
  script.Pass(kAlarmSpacing);
  script.End(3, std::nullopt);  // its parent has passed it on
  script.Pass(2 * kAlarmSpacing);
  EXPECT_THAT(script.SentAlarms(), SizeIs(1));
}

TEST(AgentCoreExitsTest, AnAlarmWaitsForTheCoordinatorButNotForLong) {
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

}  // namespace
}  // namespace rapideye::agent

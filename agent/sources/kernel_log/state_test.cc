#include "agent/sources/kernel_log/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/sources/kernel_log/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kStart = absl::Minutes(100);  // of the process, since boot
constexpr absl::Duration kNow = absl::Hours(50);       // of the agent

KernelLine Line(absl::Duration since_boot, const std::string& key = "fatal") {
  KernelLine line;
  line.line.event.kind = LogKind::kKernelHardware;
  line.line.event.source = LogSource::kKernelLog;
  line.line.event.chip = 2;
  line.line.key = key;
  line.since_boot = since_boot;
  return line;
}

KernelLine Old(KernelLine line) {
  line.backlog = true;
  return line;
}

KernelLine Reset(KernelLine line) {
  line.plain_reset = true;
  return line;
}

// A process that began so long after the host.
ProcessId Started(absl::Duration since_boot) {
  return {4211, since_boot / absl::Seconds(1) * kTicksPerSecond};
}

void Observe(KernelLogState& state, const KernelLine& line, bool launched, absl::Duration now) {
  Notices notices;
  state.Observe({{line}, {}, ""}, {.ever_launched = launched}, now, notices);
}

class KernelLogStateTest : public testing::Test {
 protected:
  KernelLogStateTest() { state_.Watching(Started(kStart)); }
  std::vector<LogEvent> Events(absl::Duration now = kNow) const {
    Snapshot snapshot;
    state_.AddTo(snapshot, {now, absl::UnixEpoch()});
    return snapshot.log_events;
  }

  KernelLogState state_;
};

TEST_F(KernelLogStateTest, OnlyTheTrainingProcessIsMissedWhenTheKernelKillsForMemory) {
  KernelLine line = Line(kStart + absl::Minutes(1));
  line.killed = 4212;
  Observe(state_, line, true, kNow);
  EXPECT_THAT(Events(), IsEmpty());
  line.killed = 4211;
  Observe(state_, line, true, kNow);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(KernelLogStateTest, KeepsAndCountsWhatIsSaidWhileTheProcessLives) {
  Observe(state_, Line(kStart + absl::Minutes(1)), true, kNow);
  Observe(state_, Line(kStart + absl::Minutes(2)), true, kNow + absl::Minutes(1));
  const auto events = Events(kNow + absl::Hours(30));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].count, 2);
  EXPECT_EQ(events[0].chip, 2);
  EXPECT_EQ(events[0].age_ms, 30 * 3600 * 1000);
}

TEST_F(KernelLogStateTest, WhatWasThereBeforeCountsOnlyIfItIsSurelyOfThisJob) {
  Observe(state_, Old(Line(kStart - absl::Minutes(1))), true, kNow);
  Observe(state_, Old(Line(kStart + absl::Milliseconds(500))), true, kNow);  // clocks differ
  EXPECT_THAT(Events(), IsEmpty());
  Observe(state_, Old(Line(kStart + absl::Minutes(1))), true, kNow);
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].age_ms, std::nullopt);
}

TEST_F(KernelLogStateTest, WithoutAProcessNothingOldIsOfThisJob) {
  KernelLogState state;
  Observe(state, Old(Line(kStart)), true, kNow);
  Snapshot snapshot;
  state.AddTo(snapshot, {kNow, absl::UnixEpoch()});
  EXPECT_THAT(snapshot.log_events, IsEmpty());
  Observe(state, Line(kStart), true, kNow);
  state.AddTo(snapshot, {kNow, absl::UnixEpoch()});
  EXPECT_THAT(snapshot.log_events, SizeIs(1));
}

TEST_F(KernelLogStateTest, AnotherProcessIsNotBlamedForWhatEndedTheLast) {
  Observe(state_, Line(kStart + absl::Minutes(1)), true, kNow);
  state_.Watching(std::nullopt);  // it has ended, perhaps of this
  EXPECT_THAT(Events(), SizeIs(1));
  state_.Watching(Started(kStart + absl::Minutes(2)));
  EXPECT_THAT(Events(), IsEmpty());
  // The process and the line both began between two looks.
  Observe(state_, Line(kStart + absl::Minutes(1)), true, kNow);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(KernelLogStateTest, AResetIsAnErrorOnlyOnceTheJobRuns) {
  Observe(state_, Reset(Line(kStart + absl::Minutes(1))), /*launched=*/false, kNow);
  Observe(state_, Old(Reset(Line(kStart + absl::Minutes(1)))), true, kNow);
  EXPECT_THAT(Events(), IsEmpty());
  Observe(state_, Reset(Line(kStart + absl::Minutes(9))), true, kNow);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(KernelLogStateTest, IsBounded) {
  for (size_t i = 0; i < 2 * kMaxKernelEvents; ++i) {
    Observe(state_, Line(kStart + absl::Minutes(1), std::to_string(i)), true, kNow);
  }
  EXPECT_THAT(Events(), SizeIs(kMaxKernelEvents));
}

}  // namespace
}  // namespace rapideye::agent

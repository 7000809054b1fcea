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

class KernelLogStateTest : public testing::Test {
 protected:
  KernelLogStateTest() { state_.Watching(kStart); }
  std::vector<LogEvent> Events(absl::Duration now = kNow) const {
    Snapshot snapshot;
    state_.Describe({now, absl::UnixEpoch()}, snapshot);
    return snapshot.log_events;
  }

  KernelLogState state_;
};

TEST_F(KernelLogStateTest, KeepsAndCountsWhatIsSaidWhileTheProcessLives) {
  state_.Observe(Line(kStart + absl::Minutes(1)), true, kNow);
  state_.Observe(Line(kStart + absl::Minutes(2)), true, kNow + absl::Minutes(1));
  const auto events = Events(kNow + absl::Hours(30));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].count, 2);
  EXPECT_EQ(events[0].chip, 2);
  EXPECT_EQ(events[0].age_ms, 30 * 3600 * 1000);
}

TEST_F(KernelLogStateTest, WhatWasThereBeforeCountsOnlyIfItIsSurelyOfThisJob) {
  state_.Observe(Old(Line(kStart - absl::Minutes(1))), true, kNow);
  state_.Observe(Old(Line(kStart + absl::Milliseconds(500))), true, kNow);  // clocks differ
  EXPECT_THAT(Events(), IsEmpty());
  state_.Observe(Old(Line(kStart + absl::Minutes(1))), true, kNow);
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].age_ms, std::nullopt);
}

TEST_F(KernelLogStateTest, WithoutAProcessNothingOldIsOfThisJob) {
  KernelLogState state;
  state.Observe(Old(Line(kStart)), true, kNow);
  Snapshot snapshot;
  state.Describe({kNow, absl::UnixEpoch()}, snapshot);
  EXPECT_THAT(snapshot.log_events, IsEmpty());
  state.Observe(Line(kStart), true, kNow);
  state.Describe({kNow, absl::UnixEpoch()}, snapshot);
  EXPECT_THAT(snapshot.log_events, SizeIs(1));
}

TEST_F(KernelLogStateTest, AnotherProcessIsNotBlamedForWhatEndedTheLast) {
  state_.Observe(Line(kStart + absl::Minutes(1)), true, kNow);
  state_.Watching(std::nullopt);  // it has ended, perhaps of this
  EXPECT_THAT(Events(), SizeIs(1));
  state_.Watching(kStart + absl::Minutes(2));
  EXPECT_THAT(Events(), IsEmpty());
  // Both began between two looks.
  state_.Observe(Line(kStart + absl::Minutes(1)), true, kNow);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(KernelLogStateTest, AResetIsAnErrorOnlyOnceTheJobRuns) {
  state_.Observe(Reset(Line(kStart + absl::Minutes(1))), /*launched=*/false, kNow);
  state_.Observe(Old(Reset(Line(kStart + absl::Minutes(1)))), true, kNow);
  EXPECT_THAT(Events(), IsEmpty());
  state_.Observe(Reset(Line(kStart + absl::Minutes(9))), true, kNow);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(KernelLogStateTest, IsBounded) {
  for (size_t i = 0; i < 2 * kMaxKernelEvents; ++i) {
    state_.Observe(Line(kStart + absl::Minutes(1), std::to_string(i)), true, kNow);
  }
  EXPECT_THAT(Events(), SizeIs(kMaxKernelEvents));
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/sources/log/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "agent/sources/log/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

logs::LogLine Line(LogKind kind, const std::string& key) {
  logs::LogLine line;
  line.event.kind = kind;
  line.event.text = "text of " + key;
  line.key = key;
  return line;
}

logs::LogLine HangLine() {
  logs::LogLine line = Line(LogKind::kHangDetected, "hang");
  line.hang_report = HangReport{4, 7, 100, true, 60'000};
  return line;
}

void Observe(LogState& state, const logs::LogLine& line, absl::Duration now) {
  Notices notices;
  state.Observe({{line}, {}}, {}, now, notices);
}

Snapshot Describe(const LogState& state, absl::Duration now) {
  Snapshot snapshot;
  state.AddTo(snapshot, {now, absl::UnixEpoch()});
  return snapshot;
}

TEST(LogStateTest, CountsTheSameAndAgesFromTheFirst) {
  LogState state;
  Observe(state, Line(LogKind::kCoreHalt, "a"), absl::Seconds(10));
  logs::LogLine flood = Line(LogKind::kCoreHalt, "a");
  flood.repeats = 99;
  Observe(state, flood, absl::Seconds(12));
  Observe(state, Line(LogKind::kFollowOn, "b"), absl::Seconds(13));
  const Snapshot snapshot = Describe(state, absl::Seconds(15));
  ASSERT_THAT(snapshot.log_events, SizeIs(2));
  EXPECT_EQ(snapshot.log_events[0].count, 101);
  EXPECT_EQ(snapshot.log_events[0].age_ms, 5'000);
  EXPECT_EQ(snapshot.log_events[1].count, 1);
}

TEST(LogStateTest, OldLinesHaveNoAge) {
  LogState state;
  logs::LogLine line = Line(LogKind::kCoreHalt, "a");
  line.old = true;
  Observe(state, line, absl::Seconds(10));
  EXPECT_EQ(Describe(state, absl::Seconds(15)).log_events.at(0).age_ms, std::nullopt);
}

TEST(LogStateTest, ProgressEndsAHangButNotAnError) {
  LogState state;
  Observe(state, HangLine(), absl::Seconds(10));
  Observe(state, Line(LogKind::kCoreHalt, "a"), absl::Seconds(10));
  EXPECT_EQ(Describe(state, absl::Seconds(11)).hang_report->launch_id, 7);
  EXPECT_THAT(Describe(state, absl::Seconds(11)).log_events, SizeIs(2));
  state.JobProgressed();
  EXPECT_FALSE(Describe(state, absl::Seconds(11)).hang_report.has_value());
  EXPECT_THAT(Describe(state, absl::Seconds(11)).log_events, SizeIs(1));
}

TEST(LogStateTest, WhatOnlyFollowsMakesRoomForACause) {
  LogState state;
  for (size_t i = 0; i < 2 * kMaxLogEvents; ++i) {
    Observe(state, Line(LogKind::kFollowOn, absl::StrCat("f", i)), absl::Seconds(1));
  }
  EXPECT_THAT(Describe(state, absl::Seconds(1)).log_events, SizeIs(kMaxLogEvents));
  Observe(state, Line(LogKind::kHaltHardware, "halt"), absl::Seconds(2));
  const Snapshot snapshot = Describe(state, absl::Seconds(2));
  EXPECT_THAT(snapshot.log_events, SizeIs(kMaxLogEvents));
  EXPECT_EQ(snapshot.log_events.back().kind, LogKind::kHaltHardware);
  EXPECT_EQ(snapshot.log_events.front().text, "text of f0");
}

TEST(LogStateTest, CausesAreNotPushedOut) {
  LogState state;
  for (size_t i = 0; i < 2 * kMaxLogEvents; ++i) {
    Observe(state, Line(LogKind::kCoreHalt, absl::StrCat("h", i)), absl::Seconds(1));
  }
  const Snapshot snapshot = Describe(state, absl::Seconds(1));
  EXPECT_THAT(snapshot.log_events, SizeIs(kMaxLogEvents));
  EXPECT_EQ(snapshot.log_events.front().text, "text of h0");
}

TEST(LogStateTest, ForgetsWhatIsOldAndWhatAnotherProcessSaid) {
  LogState state;
  Observe(state, HangLine(), absl::Seconds(10));
  Observe(state, Line(LogKind::kCoreHalt, "a"), absl::Seconds(20));
  state.ProcessReplaced(absl::Seconds(15) - kFinalLinesDelay);
  EXPECT_FALSE(Describe(state, absl::Seconds(21)).hang_report.has_value());
  EXPECT_THAT(Describe(state, absl::Seconds(21)).log_events, SizeIs(1));
  EXPECT_THAT(Describe(state, absl::Seconds(21) + kKeepLogEventsFor).log_events, IsEmpty());
}

TEST(LogStateTest, AStartUpThatEndsByATimeOutIsAnAlarm) {
  logs::LogLine line = Line(LogKind::kCoordinationTimeout, "a");
  line.event.text = "while calling /tensorflow.CoordinationService/RegisterTask:";
  LogState state;
  Notices notices;
  state.Observe({{line}, {}}, {.ever_launched = true}, absl::Seconds(10), notices);
  EXPECT_THAT(notices.alarms, IsEmpty());
  state.Observe({{line}, {}}, {}, absl::Seconds(20), notices);
  ASSERT_THAT(notices.alarms, SizeIs(1));
  EXPECT_EQ(notices.alarms[0].kind, wire::AlarmKind::kProcessExit);
}

TEST(LogStateTest, ACollectiveThatLostAPeerIsAnAlarm) {
  const auto alarms = [](const std::string& text, bool old) {
    logs::LogLine line = Line(LogKind::kFollowOn, text);
    line.event.text = text;
    line.old = old;
    LogState state;
    Notices notices;
    state.Observe({{line}, {}}, {}, absl::Seconds(10), notices);
    return notices.alarms.size();
  };
  const std::string lost =
      "jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: Connection closed by peer";
  EXPECT_EQ(alarms(lost, /*old=*/false), 1u);
  EXPECT_EQ(alarms(lost, /*old=*/true), 0u);
  // Storage that is asked again says as much.
  EXPECT_EQ(alarms("W1 retrying: Connection closed by peer", /*old=*/false), 0u);
  EXPECT_EQ(alarms("jax.errors.JaxRuntimeError: INTERNAL: Barrier failed", /*old=*/false), 0u);
}

class StepLinesStateTest : public testing::Test {
 protected:
  StepLinesStateTest() { state_.Watching(ProcessId{7, 1}); }

  void Read(std::optional<int64_t> step, int64_t advances, absl::Duration now) {
    Notices notices;
    logs::LogReading reading;
    reading.steps = logs::StepReading{step, advances};
    state_.Observe(reading, {}, now, notices);
  }

  LogState state_;
};

TEST_F(StepLinesStateTest, ToldAsTheStepAndHowLongAgoItGrew) {
  Read(12, 2, absl::Seconds(10));
  Read(14, 4, absl::Seconds(13));
  const std::optional<wire::StepLines> steps = state_.Steps(absl::Seconds(20));
  ASSERT_TRUE(steps.has_value());
  EXPECT_EQ(steps->step, 14);
  EXPECT_EQ(steps->advances, 4);
  EXPECT_EQ(steps->since_advance, absl::Seconds(7));
  EXPECT_EQ(steps->longest, absl::Seconds(3));
  const std::optional<Progress> progress = Describe(state_, absl::Seconds(20)).progress;
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->step, 14);
  EXPECT_EQ(progress->phase, Phase::kUnspecified);
  EXPECT_EQ(progress->step_ms, 7'000);
  EXPECT_EQ(progress->longest_step_ms, 3'000);
}

TEST_F(StepLinesStateTest, AHangIsNoMeasureOfHealth) {
  Read(12, 2, absl::Seconds(10));
  Read(13, 3, absl::Seconds(11));
  state_.MeasureAnew();
  Read(14, 4, absl::Seconds(500));
  EXPECT_EQ(state_.Steps(absl::Seconds(500))->longest, absl::Seconds(1));
  Read(15, 5, absl::Seconds(502));
  EXPECT_EQ(state_.Steps(absl::Seconds(502))->longest, absl::Seconds(2));
}

TEST_F(StepLinesStateTest, NothingIsExpectedOfAProcessThatHasEndedOrIsNotKnown) {
  Read(12, 2, absl::Seconds(10));
  state_.Watching(std::nullopt);
  EXPECT_FALSE(state_.Steps(absl::Seconds(11)).has_value());
  // The step that the process reached stays known.
  EXPECT_EQ(Describe(state_, absl::Seconds(11)).progress->step, 12);
}

// The stacks of a living process can be read anew.
TEST_F(StepLinesStateTest, TheStacksThatAProcessWroteAreToldOnceItHasEnded) {
  const auto write_stacks = [this](absl::Duration now) {
    Notices notices;
    logs::LogReading reading;
    reading.stacks = {{"MainThread", {"read (train.py:88)"}}};
    state_.Observe(reading, {}, now, notices);
  };
  const auto told = [this] { return Describe(state_, absl::Seconds(20)).stacks; };
  write_stacks(absl::Seconds(10));
  EXPECT_THAT(told(), IsEmpty());
  state_.Watching(std::nullopt);
  EXPECT_THAT(told(), SizeIs(1));
  Read(12, 2, absl::Seconds(12));
  EXPECT_THAT(told(), IsEmpty());  // a step came after them
  write_stacks(absl::Seconds(13));
  EXPECT_THAT(told(), SizeIs(1));
  state_.ProcessReplaced(absl::Seconds(15));
  EXPECT_THAT(told(), IsEmpty());
  write_stacks(absl::Seconds(16));
  state_.JobProgressed();
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(StepLinesStateTest, NorOnceACountIsComplete) {
  Read(12, 2, absl::Seconds(10));
  Read(std::nullopt, 3, absl::Seconds(12));
  EXPECT_FALSE(state_.Steps(absl::Seconds(12)).has_value());
  EXPECT_FALSE(Describe(state_, absl::Seconds(12)).progress.has_value());
}

TEST_F(StepLinesStateTest, AnotherProcessBeginsAnew) {
  Read(12, 2, absl::Seconds(10));
  state_.ProcessReplaced(absl::Seconds(15));
  EXPECT_FALSE(state_.Steps(absl::Seconds(16)).has_value());
  EXPECT_FALSE(Describe(state_, absl::Seconds(16)).progress.has_value());
  Read(3, 3, absl::Seconds(20));
  EXPECT_EQ(state_.Steps(absl::Seconds(20))->advances, 1);
  EXPECT_FALSE(state_.Steps(absl::Seconds(20))->longest.has_value());
}

}  // namespace
}  // namespace rapideye::agent

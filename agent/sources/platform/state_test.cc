#include "agent/sources/platform/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/sources/platform/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<LogEvent> Shown(const PlatformState& state, absl::Duration now) {
  Snapshot snapshot;
  state.AddTo(snapshot, {.monotonic = now, .wall = absl::UnixEpoch()});
  return snapshot.log_events;
}

TEST(PlatformStateTest, SaysEachOnceAndKeepsWhatTheEndOfAProcessFollows) {
  PlatformState state;
  Notices notices;
  const PlatformReading reading = {{{LogKind::kPreempted, "taken", std::nullopt}}, ""};
  state.Observe(reading, {}, absl::Seconds(100), notices);
  state.Observe(reading, {}, absl::Seconds(130), notices);
  EXPECT_THAT(notices.warnings, SizeIs(1));
  state.ProcessReplaced(absl::Seconds(131));
  const auto events = Shown(state, absl::Seconds(140));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].source, LogSource::kPlatform);
  EXPECT_EQ(events[0].age_ms, 40'000);
}

TEST(PlatformStateTest, AnEventIsAsOldAsThePlatformSays) {
  PlatformState state;
  Notices notices;
  state.Observe({{{LogKind::kHostCrash, "down", absl::Minutes(5)}}, ""}, {}, absl::Hours(2),
                notices);
  EXPECT_EQ(Shown(state, absl::Hours(2))[0].age_ms, 300'000);
  EXPECT_THAT(Shown(state, absl::Hours(2) + kKeepPlatformEvents), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

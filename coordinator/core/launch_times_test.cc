#include "coordinator/core/launch_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LaunchTimesTest, ClaimsOfAnyNumberDoNotOverflow) {
  constexpr int64_t kClaim = int64_t{1} << 53;  // the most that a heartbeat may carry
  LaunchTimes times;
  for (int i = 0; i < 2000; ++i) times.Add(kClaim, absl::Seconds(1), absl::Minutes(5));
  EXPECT_GT(times.LastHour(absl::Minutes(5)).at(0).launches, 0);
}

TEST(LaunchTimesTest, NothingBeforeTheFirstLaunch) {
  LaunchTimes times;
  EXPECT_THAT(times.LastHour(absl::Minutes(5)), IsEmpty());
  times.Add(0, absl::Seconds(1), absl::Minutes(5));
  times.Add(1, absl::ZeroDuration(), absl::Minutes(5));
  times.Add(1, -absl::Seconds(1), absl::Minutes(5));
  EXPECT_THAT(times.LastHour(absl::Minutes(5)), IsEmpty());
}

TEST(LaunchTimesTest, DurationsAreThoseOfOneLaunch) {
  LaunchTimes times;
  times.Add(4, absl::Seconds(4), absl::Minutes(5));     // a second each: at the bound
  times.Add(1, absl::Seconds(1.5), absl::Minutes(90));  // hours do not matter
  times.Add(1, absl::Seconds(301), absl::Minutes(500));
  const LaunchDurations& durations = times.durations();
  EXPECT_EQ(LaunchDurations::kBounds.at(5), 1);
  EXPECT_EQ(durations.counts.at(5), 4);
  EXPECT_EQ(durations.counts.at(6), 1);
  EXPECT_EQ(durations.counts.back(), 1);
  EXPECT_EQ(durations.sum, absl::Seconds(306.5));
}

TEST(LaunchTimesTest, MeanAndLongestOfAMinute) {
  LaunchTimes times;
  times.Add(4, absl::Seconds(4), absl::Minutes(5));
  times.Add(1, absl::Seconds(6), absl::Minutes(5) + absl::Seconds(30));
  const std::vector<LaunchMinute> hour = times.LastHour(absl::Minutes(5) + absl::Seconds(59));
  ASSERT_THAT(hour, SizeIs(1));
  EXPECT_EQ(hour[0].launches, 5);
  EXPECT_EQ(hour[0].mean, absl::Seconds(2));
  EXPECT_EQ(hour[0].longest, absl::Seconds(6));
}

TEST(LaunchTimesTest, MinutesWithoutLaunchesStandInBetween) {
  LaunchTimes times;
  times.Add(1, absl::Seconds(1), absl::Minutes(5));
  times.Add(2, absl::Seconds(1), absl::Minutes(8));
  const std::vector<LaunchMinute> hour = times.LastHour(absl::Minutes(10));
  ASSERT_THAT(hour, SizeIs(6));
  EXPECT_EQ(hour[0].launches, 1);
  EXPECT_EQ(hour[1].launches, 0);
  EXPECT_EQ(hour[3].launches, 2);
  EXPECT_EQ(hour[5].launches, 0);
}

TEST(LaunchTimesTest, AnHourAndNoMore) {
  LaunchTimes times;
  for (int minute = 0; minute < 200; ++minute) {
    times.Add(minute + 1, absl::Seconds(1), absl::Minutes(minute));
  }
  const std::vector<LaunchMinute> hour = times.LastHour(absl::Minutes(199));
  ASSERT_THAT(hour, SizeIs(LaunchTimes::kMinutes));
  EXPECT_EQ(hour.front().launches, 141);
  EXPECT_EQ(hour.back().launches, 200);
  // A job that has stood still for longer than that has empty minutes to show.
  EXPECT_EQ(times.LastHour(absl::Minutes(300)).back().launches, 0);
  EXPECT_THAT(times.LastHour(absl::Minutes(300)), SizeIs(LaunchTimes::kMinutes));
}

}  // namespace
}  // namespace rapideye::coordinator

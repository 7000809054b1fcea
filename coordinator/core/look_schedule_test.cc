#include "coordinator/core/look_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr absl::Duration kBegin = absl::Hours(7);
constexpr char kId[] = "20261120T124419Z-5dc4d1c8";
constexpr char kOther[] = "20261120T130000Z-00000001";

TEST(LookSchedule, NothingIsPlannedAtFirst) {
  LookSchedule schedule;
  EXPECT_FALSE(schedule.open());
  EXPECT_FALSE(schedule.Due(kBegin));
}

TEST(LookSchedule, TheTimeBetweenLooksDoublesUpToABound) {
  LookSchedule schedule;
  absl::Duration now = kBegin;
  absl::Duration wait = absl::Minutes(1);
  for (int i = 0; i < kMaxLooks; ++i) {
    schedule.Plan(kId, absl::Minutes(1), now);
    EXPECT_EQ(schedule.next() - now, wait) << i;
    EXPECT_FALSE(schedule.Due(schedule.next() - absl::Milliseconds(1)));
    now = schedule.next();
    EXPECT_TRUE(schedule.Due(now));
    wait = std::min(2 * wait, kLongestLookInterval);
  }
  schedule.Plan(kId, absl::Minutes(1), now);
  EXPECT_TRUE(schedule.open());
  EXPECT_FALSE(schedule.Due(now + absl::Hours(1000)));
}

// A job that has come out of its pause may hang elsewhere: looks are not only at the excuse's end.
TEST(LookSchedule, TheEndOfAnExcuseIsLookedAtAndMomentsBefore) {
  LookSchedule schedule;
  schedule.Plan(kId, absl::Seconds(10), kBegin, absl::Seconds(25));
  EXPECT_EQ(schedule.next(), kBegin + absl::Seconds(10));
  schedule.Plan(kId, absl::Seconds(10), kBegin + absl::Seconds(10), absl::Seconds(15));
  EXPECT_EQ(schedule.next(), kBegin + absl::Seconds(25));
  schedule.Plan(kId, absl::Seconds(10), kBegin + absl::Seconds(25));
  EXPECT_EQ(schedule.next(), kBegin + absl::Seconds(65));
}

TEST(LookSchedule, AnotherIncidentBeginsAnew) {
  LookSchedule schedule;
  for (int i = 0; i < 5; ++i) schedule.Plan(kId, absl::Minutes(1), kBegin);
  schedule.Plan(kOther, absl::Minutes(1), kBegin);
  EXPECT_EQ(schedule.incident(), kOther);
  EXPECT_EQ(schedule.looks(), 1);
  EXPECT_EQ(schedule.next(), kBegin + absl::Minutes(1));
  schedule.Clear();
  EXPECT_FALSE(schedule.open());
}

}  // namespace
}  // namespace rapideye::coordinator

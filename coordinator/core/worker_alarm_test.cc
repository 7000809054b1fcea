#include "coordinator/core/worker_alarm.h"

#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr absl::Duration kStart = absl::Hours(1);

TEST(WorkerAlarm, IsDueAtOnceAndTheFirstOneCounts) {
  WorkerAlarm alarm;
  EXPECT_EQ(alarm.Due(kStart), std::nullopt);
  alarm.Raise({wire::AlarmKind::kHangLine, "one"}, kStart);
  alarm.Raise({wire::AlarmKind::kHangLine, "other"}, kStart);
  EXPECT_EQ(alarm.Due(kStart).value().why, "one");
}

TEST(WorkerAlarm, IsWorthAFewCollectionsThenNoneForAWhile) {
  WorkerAlarm alarm;
  alarm.Raise({wire::AlarmKind::kHangLine, "one"}, kStart);
  absl::Duration now = kStart;
  for (int i = 1; i < kAlarmTries; ++i) {
    alarm.FoundNoHang(now);
    EXPECT_EQ(alarm.Due(now + kAlarmRetry - absl::Milliseconds(1)), std::nullopt);
    now += kAlarmRetry;
    EXPECT_EQ(alarm.Due(now).value().why, "one");
  }
  alarm.FoundNoHang(now);
  EXPECT_EQ(alarm.Due(absl::InfiniteDuration()), std::nullopt);
  alarm.Raise({wire::AlarmKind::kHangLine, "other"}, now);
  EXPECT_EQ(alarm.Due(now + kAlarmInterval - absl::Milliseconds(1)), std::nullopt);
  EXPECT_EQ(alarm.Due(now + kAlarmInterval).value().why, "other");
}

TEST(WorkerAlarm, WithoutOneACollectionOfAnotherKindHoldsNothingOff) {
  WorkerAlarm alarm;
  alarm.FoundNoHang(kStart);
  alarm.Raise({wire::AlarmKind::kHangLine, "one"}, kStart);
  EXPECT_EQ(alarm.Due(kStart).value().why, "one");
  alarm.Clear();
  EXPECT_EQ(alarm.Due(kStart), std::nullopt);
}

}  // namespace
}  // namespace rapideye::coordinator

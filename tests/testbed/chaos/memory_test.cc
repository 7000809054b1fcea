#include "tests/testbed/chaos/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rapideye::testbed {
namespace {

using ::testing::HasSubstr;

DaemonLife Growing(int64_t kib_per_minute, int minutes) {
  DaemonLife life;
  for (int minute = 0; minute <= minutes; ++minute) {
    life.Add(absl::Minutes(minute),
             {.resident_kib = 20'000 + minute * kib_per_minute, .descriptors = 10 + minute});
  }
  return life;
}

TEST(DaemonLifeTest, GrowthCountsFromTheEndOfTheWarmUp) {
  const DaemonLife leaking = Growing(100, 11);
  EXPECT_EQ(leaking.Life(), absl::Minutes(11));
  EXPECT_EQ(leaking.GrownKib(), 1'000);
  EXPECT_DOUBLE_EQ(leaking.KibPerMinute(), 100);
  EXPECT_EQ(leaking.PeakKib(), 21'100);
  EXPECT_EQ(leaking.MostDescriptors(), 21);
}

TEST(DaemonLifeTest, OneThatStaysFlatHasNoSlope) {
  const DaemonLife flat = Growing(0, 11);
  EXPECT_EQ(flat.GrownKib(), 0);
  EXPECT_DOUBLE_EQ(flat.KibPerMinute(), 0);
}

TEST(DaemonLifeTest, AStartIsNoGrowth) {
  DaemonLife starting;
  starting.Add(absl::Seconds(100), {.resident_kib = 5'000, .descriptors = 3});
  starting.Add(absl::Seconds(110), {.resident_kib = 20'000, .descriptors = 9});
  EXPECT_EQ(starting.GrownKib(), 0);
  EXPECT_DOUBLE_EQ(starting.KibPerMinute(), 0);
}

TEST(UsageTest, OfThisProcess) {
  const absl::StatusOr<Usage> usage = UsageOf(getpid());
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_GT(usage->resident_kib, 1'000);
  EXPECT_GE(usage->descriptors, 3);
}

TEST(UsageTest, OfNobody) { EXPECT_TRUE(absl::IsNotFound(UsageOf(0).status())); }

TEST(MemoryLogTest, GenerationsOfADaemonAreToldApart) {
  MemoryLog log;
  log.Add("agent-0-1", 11, absl::ZeroDuration(), {20'000, 10});
  log.Add("agent-0-1", 11, absl::Minutes(2), {20'004, 10});
  log.Add("agent-0-1", 12, absl::Minutes(3), {19'000, 10});
  log.Add("coordinator", 13, absl::Minutes(3), {30'000, 20});
  EXPECT_THAT(log.Table(), HasSubstr("agent-0-1                2        2m     20004"));
  EXPECT_THAT(log.Table(), HasSubstr("coordinator              1         0     30000"));
}

}  // namespace
}  // namespace rapideye::testbed

#include "tests/testbed/worker/durations.h"

#include <gtest/gtest.h>

namespace rapideye::testbed {
namespace {

TEST(DurationsTest, EveryOneIsInTheBucketThatHoldsIt) {
  Durations durations;
  for (const double us : {0.5, 1.0, 1.4, 1.6, 1e9}) durations.Add(absl::Microseconds(us));
  const auto distribution = durations.Distribution();
  EXPECT_EQ(distribution.count(), 5);
  EXPECT_EQ(distribution.bucket_counts(0), 1);
  EXPECT_EQ(distribution.bucket_counts(1), 2);
  EXPECT_EQ(distribution.bucket_counts(2), 1);
  EXPECT_EQ(distribution.bucket_counts(41), 1);
  EXPECT_DOUBLE_EQ(distribution.min(), 0.5);
  EXPECT_DOUBLE_EQ(distribution.max(), 1e9);
}

TEST(DurationsTest, MeanAndDeviation) {
  Durations durations;
  for (const int us : {2, 4, 9}) durations.Add(absl::Microseconds(us));
  EXPECT_DOUBLE_EQ(durations.Distribution().mean(), 5);
  EXPECT_DOUBLE_EQ(durations.Distribution().sum_of_squared_deviation(), 9 + 1 + 16);
}

}  // namespace
}  // namespace rapideye::testbed

#include "agent/sources/runtime_metrics/percentile.h"

#include <gtest/gtest.h>

#include <vector>

namespace rapideye::agent {
namespace {

using tpu::monitoring::runtime::Distribution;

Distribution Exponential(const std::vector<int64_t>& counts) {
  Distribution distribution;
  auto& buckets = *distribution.mutable_bucket_options()->mutable_exponential_buckets();
  buckets.set_num_finite_buckets(static_cast<int>(counts.size()) - 2);
  buckets.set_growth_factor(2);
  buckets.set_scale(10);
  for (const int64_t count : counts) distribution.add_bucket_counts(count);
  return distribution;
}

TEST(PercentileTest, SamplesAreSpreadOverTheirBucket) {
  // 100 samples from 20 to 40.
  const Distribution distribution = Exponential({0, 0, 100, 0, 0});
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.5), 30);
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.95), 39);
}

TEST(PercentileTest, TheFirstBucketBeginsAtZeroAndTheLastHasNoEnd) {
  const Distribution distribution = Exponential({10, 0, 0, 0, 10});
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.25), 5);
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.9), 80);
}

TEST(PercentileTest, StaysWithinTheExtremes) {
  Distribution distribution = Exponential({0, 0, 4, 0, 0});
  distribution.set_min(25);
  distribution.set_max(26);
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.01), 25);
  EXPECT_DOUBLE_EQ(*Percentile(distribution, 0.999), 26);
}

TEST(PercentileTest, LinearAndExplicitBounds) {
  Distribution linear;
  auto& line = *linear.mutable_bucket_options()->mutable_linear_buckets();
  line.set_num_finite_buckets(2);
  line.set_width(5);
  line.set_offset(100);
  for (const int count : {0, 0, 2, 0}) linear.add_bucket_counts(count);
  EXPECT_DOUBLE_EQ(*Percentile(linear, 0.5), 107.5);

  Distribution bounds;
  for (const double bound : {1.0, 9.0}) {
    bounds.mutable_bucket_options()->mutable_explicit_buckets()->add_bounds(bound);
  }
  for (const int count : {0, 4, 0}) bounds.add_bucket_counts(count);
  EXPECT_DOUBLE_EQ(*Percentile(bounds, 0.5), 5);
}

TEST(PercentileTest, AbsentWhereNothingCanBeSaid) {
  EXPECT_FALSE(Percentile(Distribution(), 0.5).has_value());
  EXPECT_FALSE(Percentile(Exponential({0, 0, 0, 0}), 0.5).has_value());
  EXPECT_FALSE(Percentile(Exponential({0, -1, 5, 0}), 0.5).has_value());
  Distribution boundless;
  boundless.add_bucket_counts(0);
  boundless.add_bucket_counts(5);
  EXPECT_FALSE(Percentile(boundless, 0.5).has_value());
  Distribution more_buckets_than_bounds = Exponential({0, 0, 0, 0});
  for (const int count : {0, 0, 7}) more_buckets_than_bounds.add_bucket_counts(count);
  EXPECT_FALSE(Percentile(more_buckets_than_bounds, 0.5).has_value());
}

}  // namespace
}  // namespace rapideye::agent

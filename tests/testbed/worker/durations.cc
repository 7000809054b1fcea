#include "tests/testbed/worker/durations.h"

#include <algorithm>
#include <cmath>

namespace rapideye::testbed {
namespace {

constexpr int kFiniteBuckets = 40;
constexpr double kGrowth = 1.5;
constexpr double kScale = 1;  // µs

// 0: below the first bound; kFiniteBuckets + 1: beyond the last.
int BucketOf(double microseconds) {
  if (microseconds < kScale) return 0;
  const double bucket = 1 + std::floor(std::log(microseconds / kScale) / std::log(kGrowth));
  return static_cast<int>(std::min<double>(bucket, kFiniteBuckets + 1));
}

}  // namespace

void Durations::Add(absl::Duration duration) {
  const double value = absl::ToDoubleMicroseconds(duration);
  const std::lock_guard lock(mutex_);
  if (distribution_.count() == 0) {
    auto& buckets = *distribution_.mutable_bucket_options()->mutable_exponential_buckets();
    buckets.set_num_finite_buckets(kFiniteBuckets);
    buckets.set_growth_factor(kGrowth);
    buckets.set_scale(kScale);
    distribution_.mutable_bucket_counts()->Resize(kFiniteBuckets + 2, 0);
    distribution_.set_min(value);
    distribution_.set_max(value);
  }
  const int64_t count = distribution_.count() + 1;
  // As Welford sums squares of deviations.
  const double delta = value - distribution_.mean();
  distribution_.set_count(count);
  distribution_.set_mean(distribution_.mean() + delta / static_cast<double>(count));
  distribution_.set_sum_of_squared_deviation(distribution_.sum_of_squared_deviation() +
                                             delta * (value - distribution_.mean()));
  distribution_.set_min(std::min(distribution_.min(), value));
  distribution_.set_max(std::max(distribution_.max(), value));
  const int bucket = BucketOf(value);
  distribution_.set_bucket_counts(bucket, distribution_.bucket_counts(bucket) + 1);
}

tpu::monitoring::runtime::Distribution Durations::Distribution() const {
  const std::lock_guard lock(mutex_);
  return distribution_;
}

}  // namespace rapideye::testbed

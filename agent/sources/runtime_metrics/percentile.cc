#include "agent/sources/runtime_metrics/percentile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rapideye::agent {
namespace {

namespace runtime = tpu::monitoring::runtime;

// Bound `index` of the buckets: bucket i lies between bounds i - 1 and i. Absent: there is
// no such bound.
std::optional<double> Bound(const runtime::Distribution::BucketOptions& options, int index) {
  switch (options.options_case()) {
    case runtime::Distribution::BucketOptions::kExponentialBuckets: {
      const auto& buckets = options.exponential_buckets();
      if (index > buckets.num_finite_buckets()) return std::nullopt;
      return buckets.scale() * std::pow(buckets.growth_factor(), index);
    }
    case runtime::Distribution::BucketOptions::kLinearBuckets: {
      const auto& buckets = options.linear_buckets();
      if (index > buckets.num_finite_buckets()) return std::nullopt;
      return buckets.offset() + buckets.width() * index;
    }
    case runtime::Distribution::BucketOptions::kExplicitBuckets: {
      const auto& buckets = options.explicit_buckets();
      if (index >= buckets.bounds_size()) return std::nullopt;
      return buckets.bounds(index);
    }
    default:
      return std::nullopt;
  }
}

// Keeps an estimate within the extremes that were seen; both are 0 if the runtime states none.
double Limited(double value, const runtime::Distribution& distribution) {
  if (distribution.max() <= distribution.min()) return value;
  return std::clamp(value, distribution.min(), distribution.max());
}

}  // namespace

std::optional<double> Percentile(const runtime::Distribution& distribution, double share) {
  double total = 0;
  for (const int64_t count : distribution.bucket_counts()) {
    if (count < 0) return std::nullopt;
    total += static_cast<double>(count);
  }
  if (total <= 0) return std::nullopt;
  const double wanted = total * share;
  double below = 0;
  for (int i = 0; i < distribution.bucket_counts_size(); ++i) {
    const auto count = static_cast<double>(distribution.bucket_counts(i));
    if (count == 0 || below + count < wanted) {
      below += count;
      continue;
    }
    const std::optional<double> upper = Bound(distribution.bucket_options(), i);
    const std::optional<double> lower =
        i > 0 ? Bound(distribution.bucket_options(), i - 1) : std::optional<double>(0);
    if (!lower.has_value()) return std::nullopt;
    if (!upper.has_value()) return Limited(*lower, distribution);
    // Values below the first bound may be negative.
    const double from = i > 0 ? *lower : std::min(*lower, *upper);
    return Limited(from + (*upper - from) * (wanted - below) / count, distribution);
  }
  return std::nullopt;
}

}  // namespace rapideye::agent

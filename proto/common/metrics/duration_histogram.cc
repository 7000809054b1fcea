#include "proto/common/metrics/duration_histogram.h"

#include <algorithm>

namespace rapideye::metrics {

void DurationHistogram::Observe(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  const MutexLock lock(mutex_);
  if (bound != kBounds.end()) {
    ++values_.counts[static_cast<size_t>(bound - kBounds.begin())];
  }
  ++values_.count;
  values_.seconds += seconds;
}

DurationHistogram::Values DurationHistogram::Get() const {
  const MutexLock lock(mutex_);
  return values_;
}

}  // namespace rapideye::metrics

// How long something took, every time it was done.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_

#include <array>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::metrics {

// Thread-safe.
class DurationHistogram {
 public:
  // Upper bounds of the buckets in seconds; what is longer is in none of them.
  // From a small job's classification to the write to a disk that nearly hangs.
  static constexpr std::array<double, 9> kBounds = {0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60};

  struct Values {
    std::array<uint64_t, kBounds.size()> counts{};  // per bucket, not cumulated
    uint64_t count = 0;
    double seconds = 0;  // all together
  };

  void Observe(absl::Duration duration);
  Values Get() const;

 private:
  mutable Mutex mutex_;
  Values values_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_

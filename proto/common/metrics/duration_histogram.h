// DurationHistogram counts durations in buckets.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_

#include <prometheus/client_metric.h>
#include <prometheus/histogram.h>

#include <utility>

#include "absl/time/time.h"

namespace rapideye::metrics {

// Thread-safe.
class DurationHistogram {
 public:
  // Upper bounds of the buckets in seconds, by default from a small job's classification to the
  // write to a disk that nearly hangs.
  explicit DurationHistogram(prometheus::Histogram::BucketBoundaries bounds = {0.001, 0.005, 0.025,
                                                                               0.1, 0.5, 1, 2.5, 10,
                                                                               60})
      : histogram_(std::move(bounds)) {}

  void Observe(absl::Duration duration) { histogram_.Observe(absl::ToDoubleSeconds(duration)); }

  // The buckets, cumulated, the last of them without a bound.
  prometheus::ClientMetric::Histogram Get() const { return histogram_.Collect().histogram; }

 private:
  prometheus::Histogram histogram_;
};

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_DURATION_HISTOGRAM_H_

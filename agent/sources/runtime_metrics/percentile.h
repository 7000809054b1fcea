// Percentile estimates a percentile of a distribution that the TPU runtime reports in buckets.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PERCENTILE_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PERCENTILE_H_

#include <optional>

#include "v1/runtime_status.pb.h"

namespace rapideye::agent {

// The value below which `share` (0 to 1) of the samples lie, in the distribution's unit,
// taken as evenly spread within a bucket, and never outside of the extremes that the distribution
// states. For the last bucket, which has no end, its beginning. Absent: no samples, counts that
// are negative, or more buckets than bounds.
std::optional<double> Percentile(const tpu::monitoring::runtime::Distribution& distribution,
                                 double share);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PERCENTILE_H_

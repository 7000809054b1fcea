// Bounds reading of metrics endpoints, which is done at a hang only.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// A page of a device plugin or of Grain has some KiB.
inline constexpr size_t kMaxMetricsPageBytes = 1024 * 1024;
// Values kept of each page, and of each metric of the runtime: enough for the cores of a host.
inline constexpr size_t kMaxMetricsPerSource = 128;
inline constexpr size_t kMaxMetricLabels = 8;
// All endpoints are on this host and answer in milliseconds; less than the host's grace.
inline constexpr absl::Duration kMetricsDeadline = absl::Milliseconds(200);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_LIMITS_H_

// Adds the memory, CPU time and other costs of this process to a page of metrics.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_PROCESS_METRICS_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_PROCESS_METRICS_H_

#include "proto/common/metrics/metric_page.h"

namespace rapideye::metrics {

// Adds memory, CPU time, descriptors, threads and the start time of this process,
// under the names that every Prometheus client uses (process_*). Values that
// the kernel does not show are left out.
void AddProcessMetrics(MetricPage& page);

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_PROCESS_METRICS_H_

// Parses metrics pages into evidence. All of it is untrusted: values that cannot be parsed are left
// out.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PARSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Parses Prometheus' text format. Skips malformed lines, and values that are no evidence
// of a hang: buckets of histograms, values that are no numbers, and metrics of the exporter
// itself; of kInputPipeline all but those of Grain and Orbax. At most kMaxMetricsPerSource,
// the first ones.
std::vector<Metric> ParsePrometheus(absl::string_view text, MetricSource source);

// A MetricResponse of the runtime: gauges and counters as they are; of a distribution its
// count and, unless that is zero, its mean and its percentiles 50, 95 and 99.9 (".count",
// ".mean", ".p50", ".p95", ".p999" behind the name). One label for each attribute, or for each
// entry of a list of attributes. INVALID_ARGUMENT: the bytes are no MetricResponse.
absl::StatusOr<std::vector<Metric>> ParseRuntimeMetric(const std::string& name,
                                                       const std::string& bytes);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_PARSE_H_

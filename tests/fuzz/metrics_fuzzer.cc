// Reads any bytes as the page of a metrics endpoint, or as the runtime's answer.
#include <cstdint>
#include <string>
#include <vector>

#include "agent/sources/limits.h"
#include "agent/sources/runtime_metrics/limits.h"
#include "agent/sources/runtime_metrics/parse.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Metric;
  using rapideye::Require;
  namespace agent = rapideye::agent;
  rapideye::QuietProtobuf();
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<Metric> metrics;
  if (data[0] == 'p') {
    metrics = agent::ParsePrometheus(bytes, rapideye::MetricSource::kInputPipeline);
  } else if (const auto parsed = agent::ParseRuntimeMetric("name", bytes); parsed.ok()) {
    metrics = *parsed;
  }
  Require(metrics.size() <= agent::kMaxMetricsPerSource, "their number is bounded");
  for (const Metric& metric : metrics) {
    Require(!metric.name.empty() && metric.name.size() <= agent::kMaxNameBytes + 6,
            "a name is there and bounded");
    Require(metric.labels.size() <= agent::kMaxMetricLabels, "labels are few");
    for (const std::string& label : metric.labels) {
      Require(label.size() <= agent::kMaxNameBytes, "a label is bounded");
    }
  }
  return 0;
}

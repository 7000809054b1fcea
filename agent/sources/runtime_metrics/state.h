// Keeps the values of metrics endpoints during the present standstill.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_STATE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct MetricsReading {
  std::vector<Metric> metrics;
  std::string unavailable;  // which endpoints did not answer, and why; empty: all did
};

class RuntimeMetricsState final : public StateOf<MetricsReading> {
 public:
  void Observe(const MetricsReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  void JobProgressed() override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  UnavailableWarning unavailable_{"some metrics are left out"};
  std::vector<Metric> metrics_;
};

struct RuntimeMetricsSource : SourceOf<RuntimeMetricsState, MetricsReading> {
  static constexpr char kName[] = "runtime-metrics";
  static std::unique_ptr<Fetcher<MetricsReading>> MakeFetcher(const HostOptions& options,
                                                              HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_STATE_H_

#include "agent/sources/runtime_metrics/state.h"

namespace rapideye::agent {

void RuntimeMetricsState::Observe(const MetricsReading& reading, const JobFacts&, absl::Duration,
                                  Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  metrics_ = reading.metrics;
}

void RuntimeMetricsState::JobProgressed() { metrics_.clear(); }

void RuntimeMetricsState::AddTo(Snapshot& snapshot, Instant) const { snapshot.metrics = metrics_; }

}  // namespace rapideye::agent

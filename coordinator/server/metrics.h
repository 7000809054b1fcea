// RenderMetrics renders the coordinator's page for Prometheus.
#ifndef RAPIDEYE_COORDINATOR_SERVER_METRICS_H_
#define RAPIDEYE_COORDINATOR_SERVER_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "coordinator/otlp/exporter.h"
#include "coordinator/removal/worker/removal_worker.h"
#include "coordinator/server/telemetry.h"
#include "coordinator/store/incident_pipeline.h"
#include "proto/transport/certificate_watch.h"

namespace rapideye::coordinator {

// The values on the page, at one moment.
struct Readings {
  // nullptr: the core has not answered yet; its metrics are left out.
  std::shared_ptr<const JobStatus> status;
  DiskReport disk;
  RemovalReport removal;
  OtlpCounters otlp = {};
  size_t queued_events = 0;  // that wait for the core
  int64_t queued_bytes = 0;
  size_t streams = 0;  // open ones
  transport::CertificateExpiry certificates;
  absl::Duration since_turn;  // of the event loop
  bool stopping = false;      // the program has been asked to end
  // Since a connection was last closed for want of descriptors; infinite: none was.
  absl::Duration since_starved = absl::InfiniteDuration();
  int64_t connections_refused = 0;  // for want of descriptors, or as too many of one peer
};

// rapideye_coordinator_*, and process_* of this process.
std::string RenderMetrics(const Readings& readings, const Telemetry& telemetry);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_METRICS_H_

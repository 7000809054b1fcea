// RenderLogs renders incident events as log records of OpenTelemetry: the JSON of OTLP over HTTP.
#ifndef RAPIDEYE_COORDINATOR_OTLP_LOG_RECORD_H_
#define RAPIDEYE_COORDINATOR_OTLP_LOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"

namespace rapideye::coordinator {

// Bytes of the body of a record; a digest of a real job is far smaller.
inline constexpr size_t kMaxLogBody = 256 << 10;

enum class IncidentEventKind {
  kOpened,     // its first digest
  kChanged,    // a further look replaced the digest
  kRecovered,  // the job goes on
};
// "opened", "changed", "recovered"
const char* IncidentEventName(IncidentEventKind kind);

struct IncidentEvent {
  IncidentEventKind kind = IncidentEventKind::kOpened;
  std::string incident = {};
  std::string job = {};      // "" if it is not known
  absl::Time at = {};        // when the hang was detected, or the job went on
  absl::Time observed = {};  // when the coordinator noted the event
  int64_t revision = 1;      // of the digest
  std::string text = {};     // the digest, or one clause
  // The verdict of the digest; absent: it could not be stated in one line, or the job went on.
  std::optional<ToldVerdict> verdict = {};
};

// Renders one ExportLogsServiceRequest. Texts may hold any bytes.
std::string RenderLogs(const std::vector<IncidentEvent>& events);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_OTLP_LOG_RECORD_H_

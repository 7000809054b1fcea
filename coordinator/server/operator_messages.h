// Converts the answers to operators into messages (proto/v1/operator.proto).
#ifndef RAPIDEYE_COORDINATOR_SERVER_OPERATOR_MESSAGES_H_
#define RAPIDEYE_COORDINATOR_SERVER_OPERATOR_MESSAGES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/job_status.h"
#include "coordinator/store/incident_archive.h"
#include "coordinator/store/incident_summary.h"
#include "v1/operator.pb.h"

namespace rapideye::coordinator {

// Every string in these messages is made UTF-8 and bounded.
v1::PauseStatus ToWire(const PauseStatus& pause);
v1::Acknowledgement ToWire(const Acknowledgement& acknowledgement);
v1::GetStatusReply ToWire(const JobStatus& status);
v1::IncidentSummary ToWire(const IncidentSummary& summary);

// INVALID_ARGUMENT for an unknown form. Unspecified is text.
absl::StatusOr<IncidentForm> FormFromWire(v1::DocumentForm form);

// Every counter with its name, for people and programs.
std::vector<std::pair<std::string, int64_t>> NamedCounters(const Counters& counters);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_OPERATOR_MESSAGES_H_

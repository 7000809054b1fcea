// RecordJson writes and reads an incident's record.json: the facts that the fleet is to remember.
#ifndef RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORD_JSON_H_
#define RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORD_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// Renders all of a record but the digest, which has a file of its own. The capture lacks parts of
// it: the hardware of a worker that sent no snapshot is known from its Hello alone. Pure.
std::string RenderRecord(const IncidentRecord& record);

// INVALID_ARGUMENT if `json` was not rendered by RenderRecord. The record's digest is empty.
absl::StatusOr<IncidentRecord> ParseRecord(const std::string& json);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORD_JSON_H_

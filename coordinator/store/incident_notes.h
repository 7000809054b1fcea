// IncidentNotes are later events of an incident, after its digest: its end, and an operator's
// acknowledgement.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_NOTES_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_NOTES_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/core/job_status.h"

namespace rapideye::coordinator {

// The text of kEndedFile and back; the id stands in the directory's name. INVALID_ARGUMENT if
// another program wrote it.
std::string EndText(const EndedIncident& ended);
absl::StatusOr<EndedIncident> ParseEnd(const std::string& text);

// The same for kAcknowledgedFile.
std::string AcknowledgementText(const Acknowledgement& acknowledgement);
absl::StatusOr<Acknowledgement> ParseAcknowledgement(const std::string& text);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_NOTES_H_

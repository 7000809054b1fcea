// Describes an incident of a list in words and as JSON.
#ifndef RAPIDEYE_COORDINATOR_CLI_INCIDENT_TEXT_H_
#define RAPIDEYE_COORDINATOR_CLI_INCIDENT_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "v1/operator.pb.h"

namespace rapideye::cli {

// "BAD_TPU_CHIP TENSOR_CORE (revision 2)"; not escaped.
std::string CauseOf(const v1::IncidentSummary& incident);

// "open", "recovered after 2m5s, acknowledged by ann", "-" if not known; not escaped.
std::string StateOf(const v1::IncidentSummary& incident);

// "host-1, host-2 and 3 more", "-" without culprits; not escaped.
std::string CulpritsOf(const v1::IncidentSummary& incident);

nlohmann::ordered_json AcknowledgementJson(const v1::Acknowledgement& acknowledgement);

// The form that `rapideye incidents --format=json` prints. Unknown fields are left out.
nlohmann::ordered_json IncidentJson(const v1::IncidentSummary& incident);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_INCIDENT_TEXT_H_

// Parses the answers of Compute Engine's metadata server, of Kubernetes' API server and of Slurm.
#ifndef RAPIDEYE_AGENT_SOURCES_PLATFORM_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_PLATFORM_PARSE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/platform/state.h"

namespace rapideye::agent {

using PlatformEvents = std::vector<PlatformEvent>;

// instance/preempted ("TRUE") and instance/maintenance-event ("NONE", or the kind of event).
PlatformEvents ParsePreempted(absl::string_view text);
PlatformEvents ParseMaintenanceEvent(absl::string_view text);
// instance/upcoming-maintenance?alt=json: no event before the window has begun. INVALID_ARGUMENT:
// no JSON object.
absl::StatusOr<PlatformEvents> ParseUpcomingMaintenance(absl::string_view json, absl::Time now);

// A Node of the API: its conditions, and taints that announce its end. INVALID_ARGUMENT: no JSON
// object.
absl::StatusOr<PlatformEvents> ParseNode(absl::string_view json, absl::Time now);
// An EventList, of a node or a pod. Leaves out events older than kKeepPlatformEvents and those
// that end no worker. INVALID_ARGUMENT: no JSON object.
absl::StatusOr<PlatformEvents> ParseEvents(absl::string_view json, absl::Time now);

// Parses the line of `scontrol --oneliner show node NAME`. INVALID_ARGUMENT: it names no state.
absl::StatusOr<PlatformEvents> ParseSlurmNode(absl::string_view line);

// Text of the platform without control characters, cut to kMaxPlatformTextBytes.
std::string PlatformText(absl::string_view text);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PLATFORM_PARSE_H_

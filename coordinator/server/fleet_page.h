// FleetPage shows the fleet history: offenders, decisions, breakers, precision.
//
// All functions here read the history and change nothing. Errors are those of Database; NOT_FOUND
// if there is no history yet. May block as long as the history does.
#ifndef RAPIDEYE_COORDINATOR_SERVER_FLEET_PAGE_H_
#define RAPIDEYE_COORDINATOR_SERVER_FLEET_PAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

struct FleetSource {
  std::string url;                               // as OpenDatabase takes it
  RemovalMode mode = RemovalMode::kDryRun;       // whose decisions are shown
  absl::Duration window = absl::Hours(30 * 24);  // incidents that count
};

absl::StatusOr<std::string> FleetPage(const FleetSource& source, absl::Time now);

// The latest events of each machine that the incident names, as HTML for the incident's page.
absl::StatusOr<std::string> MachineHistoryHtml(const FleetSource& source,
                                               const std::string& incident);

// The decisions about the incident's machines, and their outcomes: `record` is its hooks.json, of
// any writer. Empty if the record holds none.
std::string DecisionsHtml(const std::string& record);

// `page`, of an incident, with `html` as its last section; unchanged if it has no place for it.
std::string WithLastSection(std::string page, const std::string& html);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_FLEET_PAGE_H_

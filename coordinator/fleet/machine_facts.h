// ReadFacts reads from the history what bears on a decision about one machine.
#ifndef RAPIDEYE_COORDINATOR_FLEET_MACHINE_FACTS_H_
#define RAPIDEYE_COORDINATOR_FLEET_MACHINE_FACTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// As the parameters of History::FactsAbout.
struct FactsQuery {
  std::string machine;
  RemovalMode mode = RemovalMode::kDryRun;
  absl::Time since;
  std::string recorded_by;
  absl::Time now = absl::InfiniteFuture();
};

// Everything but the breaker. Errors are those of Database.
absl::StatusOr<Facts> ReadFacts(Database& database, const FactsQuery& query);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_MACHINE_FACTS_H_

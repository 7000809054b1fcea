// Spool keeps incidents on disk until a fleet history has them. Not thread-safe.
#ifndef RAPIDEYE_COORDINATOR_FLEET_SPOOL_H_
#define RAPIDEYE_COORDINATOR_FLEET_SPOOL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// A history of its own, in the state directory, that is emptied into the fleet's. An incident
// put there survives a crash, and is removed only once the fleet's history has it.
class Spool {
 public:
  // `local` must be migrated, and outlive this.
  explicit Spool(Database& local) : local_(local) {}

  absl::Status Put(const IncidentRecord& incident);
  // The oldest first.
  absl::StatusOr<std::vector<IncidentRecord>> Waiting();

  struct Forwarded {
    size_t delivered = 0;
    absl::Status problem;  // of the spool or the history; OK: nothing waits any more
  };
  // Delivers all that waits to `history`, whose time is `now`. An incident that the history refuses
  // does not hold up the others; it stays, and is tried again.
  Forwarded ForwardTo(History& history, absl::Time now);

 private:
  absl::StatusOr<std::vector<CulpritRecord>> CulpritsOf(const std::string& incident);
  absl::Status Remove(const std::string& incident);

  Database& local_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_SPOOL_H_

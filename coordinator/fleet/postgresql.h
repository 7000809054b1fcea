// OpenPostgresql connects to a database on a server: one history for many jobs.
#ifndef RAPIDEYE_COORDINATOR_FLEET_POSTGRESQL_H_
#define RAPIDEYE_COORDINATOR_FLEET_POSTGRESQL_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/limits.h"

namespace rapideye::coordinator {

// Connects at the first use, and again after a connection has broken. `url` as libpq
// takes it; libpq reads what the URL leaves out from PGPASSWORD, ~/.pgpass and the like.
// INVALID_ARGUMENT if libpq cannot read it. A statement that takes longer than `patience`
// is DEADLINE_EXCEEDED; a server that hangs, so that it does not even say that, is
// UNAVAILABLE after a third more.
absl::StatusOr<std::unique_ptr<Database>> OpenPostgresql(
    const std::string& url, absl::Duration patience = kHistoryPatience);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_POSTGRESQL_H_

// OpenSqlite opens a database in a file: the history of a single coordinator or remover.
#ifndef RAPIDEYE_COORDINATOR_FLEET_SQLITE_H_
#define RAPIDEYE_COORDINATOR_FLEET_SQLITE_H_

#include <memory>
#include <string>

#include "coordinator/fleet/database.h"

namespace rapideye::coordinator {

// Opens the file; makes it if it is not there (its directory must be), or says NOT_FOUND. Commits
// survive a loss of power. Several processes of one machine may share the file.
// FAILED_PRECONDITION on a network file system.
absl::StatusOr<std::unique_ptr<Database>> OpenSqlite(const std::string& path, IfMissing if_missing);

// FAILED_PRECONDITION, with what to do instead, if `type` names a network file system: the memory
// that the processes of a database share is not shared there, and locks may not hold.
absl::Status CheckSqlitePlace(const std::string& path, const std::string& type);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_SQLITE_H_

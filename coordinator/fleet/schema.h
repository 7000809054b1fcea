// Defines the tables of the fleet history, and migrates an older history to the present version.
#ifndef RAPIDEYE_COORDINATOR_FLEET_SCHEMA_H_
#define RAPIDEYE_COORDINATOR_FLEET_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/fleet/database.h"

namespace rapideye::coordinator {

// One step from the version before. A step that was released never changes again.
struct Migration {
  int64_t version = 0;
  std::string description;
  std::vector<std::string> statements;
  // Statements that run after those, on PostgreSQL only.
  std::vector<std::string> postgresql = {};
};

// All steps of this program, ascending from version 1.
const std::vector<Migration>& FleetMigrations();

// Takes the database from any version to the last of `migrations`; several processes may try at
// once. FAILED_PRECONDITION if it is newer than that: the message says which program to update.
absl::Status Migrate(Database& database, const std::vector<Migration>& migrations);

// Checks for readers and writers that there is a fleet history of this program's version.
// Changes nothing. NOT_FOUND, FAILED_PRECONDITION: the message says what to do.
absl::Status CheckSchema(Database& database);

// In a transaction: waits until no other transaction holds the lock, which lasts until
// this one ends. Work that several processes may try at once, and only one should do, needs it.
absl::Status TakeLock(Database& database);

// Runs `work` in a transaction under the lock.
template <typename Work>
auto WithLock(Database& database, Work work) -> decltype(work()) {
  return InTransaction(database, [&]() -> decltype(work()) {
    if (absl::Status status = TakeLock(database); !status.ok()) return status;
    return work();
  });
}

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_SCHEMA_H_

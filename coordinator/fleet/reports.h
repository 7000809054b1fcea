// What operators ask a fleet history. Nothing here changes it.
#ifndef RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_
#define RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/records.h"

namespace rapideye::coordinator {

// A machine that incidents named, since it was last forgotten.
struct Offender {
  std::string machine;
  std::string host;  // its latest name
  int64_t incidents = 0;
  std::vector<std::string> causes;  // "BAD_TPU_CHIP TENSOR_CORE (3)", most frequent first
  absl::Time last_seen = absl::UnixEpoch();
};
// Those with most incidents first, at most `limit`.
absl::StatusOr<std::vector<Offender>> Offenders(Database& database, absl::Time since, size_t limit);

// The keys of all machines that bear this name: a host, a node, or hardware.
absl::StatusOr<std::vector<std::string>> MachinesNamed(Database& database, const std::string& name);

// Something that happened to a machine.
struct Happening {
  absl::Time at;
  std::string kind;      // "incident" "decision" "hook" "repair" "forgotten"
  std::string incident;  // empty: of none
  std::string text;
};
// In the order in which they happened. Why it was (not) removed stands in the decisions.
absl::StatusOr<std::vector<Happening>> HistoryOf(Database& database, const std::string& machine);

// Of the removals decided on in one mode, for one cause: how many were right, as far as
// somebody looked at the machine.
struct Precision {
  std::string cause;
  std::string detail;
  int64_t right = 0;    // a chip or a NIC was replaced
  int64_t wrong = 0;    // nothing was found
  int64_t unknown = 0;  // nobody has said
};
absl::StatusOr<std::vector<Precision>> PrecisionOf(Database& database, RemovalMode mode);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_

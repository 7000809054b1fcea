// Queries a fleet history for operators. Nothing here changes it. Threads and errors: as Database.
#ifndef RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_
#define RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// A machine that incidents named, since it was last forgotten.
struct Offender {
  std::string machine;
  std::string host;  // its latest name
  int64_t incidents = 0;
  std::vector<std::string> causes;  // "BAD_TPU_CHIP TENSOR_CORE (3)", most frequent first
  absl::Time last_seen = absl::UnixEpoch();
};
// Machines with most incidents first, at most `limit`. Repairs later than `now` and
// kLargestClockError are not believed.
absl::StatusOr<std::vector<Offender>> Offenders(Database& database, absl::Time since,
                                                absl::Time now, size_t limit);

// The latest decision about a machine in one mode; nullopt: none yet.
struct LatestDecision {
  std::string incident;
  std::string action;  // ActionName
  std::string rule;
  std::string reason;
  absl::Time at;
};
absl::StatusOr<std::optional<LatestDecision>> LatestDecisionAbout(Database& database,
                                                                  const std::string& machine,
                                                                  RemovalMode mode);

// The incidents for which the machine's removal was decided on, in any mode, the latest first.
absl::StatusOr<std::vector<std::string>> RemovalsOf(Database& database, const std::string& machine);

// The keys of all machines that bear this name: a host, a node, or hardware.
absl::StatusOr<std::vector<std::string>> MachinesNamed(Database& database, const std::string& name);
// The latest host name of a machine; empty if the history has nothing of it.
absl::StatusOr<std::string> HostOf(Database& database, const std::string& machine);
// Names that machines bear, and ids of incidents, newest first: for suggestions, so at most
// `limit`.
absl::StatusOr<std::vector<std::string>> KnownNames(Database& database, size_t limit);
absl::StatusOr<std::vector<std::string>> KnownIncidents(Database& database, size_t limit);

// A machine that an incident names, as it was called then.
struct NamedMachine {
  std::string machine;
  std::string host;
  std::optional<std::string> node;
  std::optional<std::string> hardware;
};
// The machines of an incident, by machine; NOT_FOUND if there is no such incident.
absl::StatusOr<std::vector<NamedMachine>> MachinesOf(Database& database,
                                                     const std::string& incident);

// Something that happened to a machine.
struct Happening {
  absl::Time at;
  std::string kind;      // "incident" "decision" "hook" "repair" "forgotten"
  std::string incident;  // empty: it belongs to no incident
  std::string text;      // one sentence, for people
  // The same facts for programs, such as ("action", "watch"); for a hook also its output.
  std::vector<std::pair<std::string, std::string>> details;
};
// The events of a machine in their order. Decisions say why it was (not) removed.
absl::StatusOr<std::vector<Happening>> HistoryOf(Database& database, const std::string& machine);

// The number of right removals among those decided on in one mode, for one cause, as far as the
// machines were inspected.
struct Precision {
  std::string cause;
  std::string detail;
  int64_t right = 0;    // a chip or a NIC was replaced
  int64_t wrong = 0;    // nothing was found
  int64_t unknown = 0;  // not inspected
};
absl::StatusOr<std::vector<Precision>> PrecisionOf(Database& database, RemovalMode mode);

// Hooks of removals that have not ended: they begin, or go on, once the breaker allows it.
absl::StatusOr<int64_t> HooksWaiting(Database& database);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_REPORTS_H_

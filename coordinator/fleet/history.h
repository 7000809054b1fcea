// History stores culprits, decisions and repairs of a fleet, across jobs and restarts.
#ifndef RAPIDEYE_COORDINATOR_FLEET_HISTORY_H_
#define RAPIDEYE_COORDINATOR_FLEET_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// A gateway to the tables; what belongs together is done in a transaction by its
// caller (WithLock), or is one transaction of its own where that is said. `now` is the
// history's time (fleet_clock.h). Errors are those of Database. Not thread-safe.
class History {
 public:
  // `database` must outlive it and be migrated.
  explicit History(Database& database) : database_(database) {}

  // The newest of the times in it that deciders and operators wrote; InfinitePast if there
  // is none. Not of incidents: a tenant who writes those could move the time of all.
  absl::StatusOr<absl::Time> Newest();

  // Remembers an incident; its own transaction. The same incident again changes
  // nothing. It happened when it was detected, but never later than `now`: a
  // coordinator whose clock is wrong keeps no event in a window for longer.
  absl::Status Record(const IncidentRecord& incident, absl::Time now);

  // Deciding -----------------------------------------------------------------

  // Findings not older than `since` without a decision in this mode, oldest
  // first, whatever the order in which they came. `job`: only of that job.
  absl::StatusOr<std::vector<Finding>> Undecided(
      RemovalMode mode, absl::Time since, int64_t limit,
      const std::optional<std::string>& job = std::nullopt);
  // The newest finding about a machine; NOT_FOUND.
  absl::StatusOr<Finding> NewestFinding(const std::string& machine);
  // The finding of an incident about a machine, the reason of the decision about it, and
  // the incident's digest, empty if it was too large; NOT_FOUND.
  absl::StatusOr<Finding> FindingOf(const std::string& incident, const std::string& machine);
  absl::StatusOr<std::string> ReasonOf(const std::string& incident, const std::string& machine,
                                       RemovalMode mode);
  absl::StatusOr<std::string> DigestOf(const std::string& incident);
  // True if the incident is known, and Undecided has nothing of it.
  absl::StatusOr<bool> IsDecided(const std::string& incident, RemovalMode mode, absl::Time since);
  // The decision about each machine of an incident, by machine.
  absl::StatusOr<std::vector<MachineDecision>> DecisionsOf(const std::string& incident,
                                                           RemovalMode mode);
  // The facts for a decision about `machine`, as far back as `since`. An enforced
  // removal counts in every mode, a dry one only in dry runs.
  absl::StatusOr<Facts> FactsAbout(const std::string& machine, RemovalMode mode, absl::Time since);
  // False if this finding was decided about before, in this mode: then nothing
  // changes.
  absl::StatusOr<bool> AddDecision(const Finding& finding, RemovalMode mode,
                                   const Decision& decision, absl::Time now);

  // Whether its removal was decided on in this mode, and the machine was not forgotten since.
  absl::StatusOr<bool> RemovalStands(const Finding& finding, RemovalMode mode);

  // Operators ----------------------------------------------------------------

  absl::StatusOr<Breaker> BreakerOf(RemovalMode mode);
  absl::Status SetBreaker(RemovalMode mode, bool open, const std::string& reason,
                          const std::string& who, absl::Time now);
  // Earlier incidents of the machine no longer count against it.
  absl::Status Forget(const std::string& machine, const std::string& who, absl::Time now);
  // Stores the result of inspecting a culprit of an incident: "chip", "nic" or "none".
  // NOT_FOUND if the incident does not name the machine. The latest result counts.
  absl::Status ConfirmRepair(const std::string& incident, const std::string& machine,
                             const std::string& repair, const std::string& who, absl::Time now);

 private:
  absl::Status AddEvents(const std::string& machine, absl::Time since, Facts& facts);
  absl::Status AddNames(const std::string& machine, Facts& facts);
  absl::StatusOr<std::vector<PastRemoval>> RemovalsSince(RemovalMode mode, absl::Time since);

  Database& database_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_HISTORY_H_

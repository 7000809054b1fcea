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

// A gateway to the tables. The caller runs calls that belong together in one transaction
// (WithLock); a call that is a transaction of its own says so. `now` is the
// history's time (fleet_clock.h). Errors are those of Database. Not thread-safe.
class History {
 public:
  // `database` must outlive it and be migrated.
  explicit History(Database& database) : database_(database) {}

  // The newest time in the history that deciders or operators wrote; InfinitePast if there is
  // none. Times of incidents do not count: a tenant who writes those could move the time of all.
  // Times after `not_after` are left out: a clock that was wrong when they were written is no
  // reason to be wrong for ever.
  absl::StatusOr<absl::Time> Newest(absl::Time not_after = absl::InfiniteFuture());
  // The number of times that Newest leaves out.
  absl::StatusOr<int64_t> CountAfter(absl::Time not_after);

  // Remembers an incident; its own transaction. The same incident again changes
  // nothing. It happened when it was detected, but never later than `now`: a
  // coordinator whose clock is wrong keeps no event in a window for longer.
  absl::Status Record(const IncidentRecord& incident, absl::Time now);

  // Deciding -----------------------------------------------------------------

  // Findings not older than `since` without a decision in this mode, oldest
  // first, whatever the order in which they came. If there are more than `limit`, each role
  // gets its share; roles that do not own the history get kMaxFindingsPerRole at most.
  // `job`: only of that job.
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
  // removal counts in every mode, a dry one only in dry runs. `recorded_by`: the finding's.
  // Incidents and repairs later than `now` and kLargestClockError are not believed.
  absl::StatusOr<Facts> FactsAbout(const std::string& machine, RemovalMode mode, absl::Time since,
                                   const std::string& recorded_by = "",
                                   absl::Time now = absl::InfiniteFuture());
  // False if this finding was decided about before, in this mode: then nothing
  // changes.
  absl::StatusOr<bool> AddDecision(const Finding& finding, RemovalMode mode,
                                   const Decision& decision, absl::Time now);

  // True if its removal was decided on in this mode, and the machine was not forgotten since.
  absl::StatusOr<bool> RemovalStands(const Finding& finding, RemovalMode mode,
                                     absl::Time now = absl::InfiniteFuture());

  // Deletes incidents older than `incidents`, with all that was decided and done about them,
  // and the digests of those older than `digests`; some hundred a call, its own transaction.
  // True if more is left.
  absl::StatusOr<bool> DropBefore(absl::Time incidents, absl::Time digests);

  // Operators ----------------------------------------------------------------

  // The breaker of a mode for the findings of one role: the fleet's if it is open, which stops
  // all, otherwise the role's own, which stops what that role recorded.
  absl::StatusOr<Breaker> BreakerOf(RemovalMode mode, const std::string& recorded_by = "");
  // Roles whose own breaker is open.
  absl::StatusOr<std::vector<std::string>> StoppedRoles(RemovalMode mode);
  // `recorded_by` empty: sets the fleet's breaker.
  absl::Status SetBreaker(RemovalMode mode, bool open, const std::string& reason,
                          const std::string& who, absl::Time now,
                          const std::string& recorded_by = "");
  // Earlier incidents of the machine no longer count against it.
  absl::Status Forget(const std::string& machine, const std::string& who, absl::Time now);
  // Stores the result of inspecting a culprit of an incident: "chip", "nic" or "none".
  // NOT_FOUND if the incident does not name the machine. The latest result counts.
  absl::Status ConfirmRepair(const std::string& incident, const std::string& machine,
                             const std::string& repair, const std::string& who, absl::Time now);

 private:
  Database& database_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_HISTORY_H_

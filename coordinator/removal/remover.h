// Remover decides about findings in a fleet history and has removals carried out.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/journal.h"
#include "coordinator/removal/policy/policy.h"

namespace rapideye::coordinator {

// Runs inside a coordinator, or alone for a fleet; several removers may share one history, and
// even so no machine is removed twice. A remover that dies at any point is replaced by the next: it
// keeps only the result of a hook, until the database has taken that. Not thread-safe; a turn may
// block for as long as database and hooks may take.
class Remover {
 public:
  struct Decided {
    Finding finding;
    Decision decision;
  };
  struct Settings {
    Policy policy;
    // Decides only about findings of this job; empty: of any job.
    std::optional<std::string> job;
    std::vector<std::string> hooks;   // each runs once for every removal, in this order
    std::string holder;               // this remover's name in the history
    absl::Duration lease;             // longer than a hook may take
    std::function<absl::Time()> now;  // the history's time (fleet_clock.h)
    // Asked before each hook: false ends the turn, and the next turn goes on. May be empty.
    std::function<bool()> go_on = {};
    // Called with each decision once it stands, before any decision is acted on. May be empty.
    std::function<void(const Decided&)> decided = {};
  };

  // The work done since the last turn that succeeded.
  struct Report {
    std::vector<Decided> decisions;
    std::vector<Task> ended;    // done, failed or expired
    std::vector<Task> retried;  // failed, and tried again later
    bool stopped_by_breaker = false;
    // The fleet's breaker in this mode is open; absent: the history did not say. Set by
    // RemovalLoop.
    std::optional<bool> breaker_open = std::nullopt;
    // A turn before this finds no task that may run, unless another process changes that.
    absl::Time next = absl::InfiniteFuture();
  };

  // `database` must be migrated; it and `runner` outlive this. INVALID_ARGUMENT if
  // removals are enforced and there is no hook that would carry them out.
  static absl::StatusOr<Remover> Make(Database& database, HookRunner& runner, Settings settings);

  // Replaces the machines that tenants may accuse, from the next turn on.
  void SetTenantMachines(std::vector<TenantMachine> machines) {
    settings_.policy.tenant_machines = std::move(machines);
  }

  // To be called once, before the first turn: makes tasks due again that a process of the same name
  // had begun when it died.
  absl::Status Resume() { return journal_.Resume(); }

  // Decides about all undecided findings, then runs the due tasks. An error ends the turn; its
  // results so far are kept, and the next turn goes on from there.
  absl::StatusOr<Report> Turn();

 private:
  Remover(Database& database, HookRunner& runner, Settings settings);

  // True if more findings may be left to decide about.
  absl::StatusOr<bool> DecideAll();
  absl::Status DropOld();
  // False if another remover was faster. `weigh`: false if the rows of the finding's role take too
  // long to look at.
  absl::StatusOr<bool> DecideOne(const Finding& finding, bool weigh, Decision& decision);
  absl::Status ActOnAll();
  // Records the result of the last hook, unless the journal has it.
  absl::Status WriteDown();
  absl::StatusOr<std::optional<Task>> ClaimUnlessStopped(Report& report);
  absl::StatusOr<std::optional<Task>> ClaimUnlessRefused(Report& report, absl::Time now);
  absl::StatusOr<HookCall> CallFor(const Task& task);

  Database& database_;
  HookRunner& runner_;
  Settings settings_;
  History history_;
  Journal journal_;
  struct Ran {
    Task task;
    HookResult result;
  };
  absl::Time next_drop_ = absl::InfinitePast();
  Report report_;  // also holds turns that failed later
  // Kept while the history is away, so that the hook does not run again.
  std::optional<Ran> ran_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_H_

// IncidentHooks runs the hooks of an incident once, with or without removals.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_INCIDENT_HOOKS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_INCIDENT_HOOKS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/journal.h"

namespace rapideye::coordinator {

// Where a removal is enforced, the remover runs the hooks for the removed host. This class
// runs all others: an upload, a webhook, in a dry run all hooks. Its journal lies in the
// coordinator's state directory, so that a fleet history that is down delays no notification.
// Not thread-safe; may block for as long as a hook may run.
class IncidentHooks {
 public:
  struct Settings {
    std::vector<std::string> hooks;  // in this order
    absl::Duration lease;            // longer than a hook may take
    absl::Duration lifetime;         // hooks that have not begun by its end expire
    std::function<absl::Time()> now;
    // Makes the input of a task's hook.
    std::function<absl::StatusOr<HookCall>(const Task&)> call;
    // Returns the reason why a task need not run any more; nullopt: it has to run.
    std::function<std::optional<std::string>(const Task&)> settled;
  };

  // `journal` must be migrated; it and `runner` outlive this.
  IncidentHooks(Database& journal, HookRunner& runner, Settings settings);

  // Makes hooks due that an earlier process had begun. Call once, before all others.
  absl::Status Resume() { return journal_.Resume(); }
  // Adds an incident that is on disk. Its hooks wait at most `patience` for Release.
  // Idempotent.
  absl::Status Add(const std::string& incident, absl::Duration patience);
  // Adds the end of an incident whose digests have these keys, the last of them the digest that
  // is out. Each hook that was run for one of them runs for the end, too, once its tasks and
  // `removals` are done, or given up: a hook must not hear of the recovery before the hang. False:
  // some hook has not come to that yet: call again. Idempotent.
  absl::StatusOr<bool> AddEnd(const std::vector<std::string>& keys,
                              const std::vector<Task>& removals);
  // Incidents whose hooks have not begun.
  absl::StatusOr<std::vector<std::string>> Waiting() { return journal_.Waiting(); }
  // Lets the incident's hooks run: its removals have been decided.
  absl::Status Release(const std::string& incident);

  // Runs due tasks while `go_on`; returns the tasks that it ran, or gave up.
  absl::StatusOr<std::vector<Task>> RunDue(const std::function<bool()>& go_on);
  // The time until the next task; InfiniteDuration if none waits.
  absl::StatusOr<absl::Duration> UntilNext();
  absl::StatusOr<std::vector<Task>> TasksOf(const std::string& incident);

 private:
  absl::StatusOr<std::optional<Task>> Claim(std::vector<Task>& expired);
  HookResult Run(const Task& task);
  // Writes down the result of the last hook, unless the journal has it.
  absl::Status WriteDown(std::vector<Task>& ran);

  Database& database_;
  HookRunner& runner_;
  const Settings settings_;
  Journal journal_;
  struct Ran {
    Task task;
    HookResult result;
  };
  // The result that the journal lacks: a disk that was full must not make a hook run again.
  std::optional<Ran> ran_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_INCIDENT_HOOKS_H_

// IncidentHooks runs the hooks of an incident once, with or without removals, and keeps in the
// incident's hooks.json what became of them.
//
//   due ──► acting ──► done
//    ▲ │      │ │
//    │ │      │ └─ too many attempts, or much too late ──► failed
//    │ └──────┼─► never begun in time ──► expired
//    └────────┘ its run failed, or its process died
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_INCIDENT_HOOKS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_INCIDENT_HOOKS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/journal.h"
#include "coordinator/removal/worker/removal_record.h"
#include "coordinator/store/disk.h"

namespace rapideye::coordinator {

// Where a removal is enforced, the remover runs the hooks for the removed host. This class
// runs all others: an upload, a webhook, in a dry run all hooks. Every change is on disk before it
// counts, so that a hook runs again only if its run failed, or if its process died before the
// result was on disk. A fleet history that is down delays no notification.
//
// One process at a time works on a directory of incidents. Incidents are named by their keys
// (IncidentKey, EndKey), directories by their ids. Errors are those of Disk; NOT_FOUND: the
// incident is not on disk any more; PERMISSION_DENIED: see `distrust`. Not thread-safe; may block
// for as long as a hook may run.
class IncidentHooks {
 public:
  struct Settings {
    std::string incidents;                    // the directory of the incidents' directories
    std::vector<std::string> hooks;           // in this order
    RemovalMode mode = RemovalMode::kDryRun;  // of new records
    absl::Duration lifetime;                  // hooks that have not begun by its end expire
    std::function<absl::Time()> now;
    // The reason why a directory is not to be believed when it says that hooks are to run.
    std::function<absl::Status(const std::string& directory)> distrust;
    // Makes the input of a task's hook.
    std::function<absl::StatusOr<HookCall>(const Task&)> call;
    // Returns the reason why a task need not run any more; nullopt: it has to run.
    std::function<std::optional<std::string>(const Task&)> settled;
  };

  // `disk` and `runner` outlive this.
  IncidentHooks(Disk& disk, HookRunner& runner, Settings settings);

  // The record of an incident. The first use reads its file: hooks that another process had begun
  // are due again. A record that is not there yet, or damaged, has no revision.
  absl::StatusOr<RemovalRecord> RecordOf(const std::string& id);
  // Changes the record of an incident. OK if that changes nothing.
  absl::Status Change(const std::string& id, const std::function<void(RemovalRecord&)>& change);
  // Frees the memory of records of which no hook waits and that the history has.
  void DropSettled();

  // Takes the hooks of an incident from version 0.1, unless its record has been taken over before,
  // or is a copy of which nothing is left to do.
  absl::Status TakeOver(const std::string& id, const std::vector<Task>& hooks);

  // Adds an incident that is on disk. Its hooks wait at most `patience` for Release.
  // Idempotent.
  absl::Status Add(const std::string& incident, absl::Duration patience);
  // Adds the end of an incident, `incident` being the digest that is out. Each hook that was run
  // for one of its digests runs for the end, too, once its tasks and `removals` are done, or given
  // up: a hook must not hear of the recovery before the hang. False: some hook has not come to
  // that yet: call again. Idempotent.
  absl::StatusOr<bool> AddEnd(const std::string& incident, const std::vector<Task>& removals);
  // Incidents of which a hook waits for its first attempt.
  std::vector<std::string> Waiting() const;
  // Lets the incident's hooks run: its removals have been decided.
  absl::Status Release(const std::string& incident);

  // Runs due tasks while `go_on`; returns the tasks that it ran, or gave up.
  absl::StatusOr<std::vector<Task>> RunDue(const std::function<bool()>& go_on);
  // The time until the next task; InfiniteDuration if none waits.
  absl::Duration UntilNext() const;

 private:
  struct Ran {
    Task task;
    HookResult result;
  };

  // A task that another process has left, ready to run.
  Task Resumed(Task task) const;
  std::string DirectoryOf(const std::string& id) const;
  absl::StatusOr<RemovalRecord*> Open(const std::string& id);
  absl::Status Store(const std::string& directory, const std::string& text);
  void Forget(const std::string& id);
  absl::Status ChangeTask(const Task& task);
  // True if the hook may run once its time has come.
  bool IsNext(const std::vector<Task>& tasks, size_t index, absl::Time now) const;
  std::optional<Task> NextDue(absl::Time now) const;
  absl::Status Expire(absl::Time now, std::vector<Task>& expired);
  HookResult Run(const Task& task);
  // Writes down the result of the last hook, unless the disk has it.
  absl::Status WriteDown(std::vector<Task>& ran);

  Disk& disk_;
  HookRunner& runner_;
  const Settings settings_;
  std::map<std::string, RemovalRecord> kept_;  // by id
  // The result that the disk lacks: a disk that was full must not make a hook run again.
  std::optional<Ran> ran_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_INCIDENT_HOOKS_H_

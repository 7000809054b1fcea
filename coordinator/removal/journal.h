// Journal stores which hooks are due, running or done, so that decisions survive a crash.
//
//   due ──Claim──► acting ──Finish──► done
//    ▲ │             │ │
//    │ └─Expire──►   │ └─ too many attempts, or much too late ──► failed
//    │     expired   │
//    └── its run failed, or its holder is gone and its lease over
//
// A task is run again only if its run failed, or if its process died between the end
// of the hook and Finish: at least once, with the same incident.
//
// Hooks of one incident run one after another, in the order of their ordinals, whatever
// their machines: an upload before the restart of the job, and every machine drained
// before it. A hook that fails holds up the later ones of its incident, and no other incident,
// until it succeeds or is given up, after kMaxHookAttempts, within half an hour.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_JOURNAL_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/removal/hooks.h"

namespace rapideye::coordinator {

// One hook for one subject of one incident.
struct Task {
  std::string incident;
  std::string subject;  // a machine; two tasks of one subject never run at once
  std::string hook;
  int64_t ordinal = 0;  // place of the hook in the list of hooks; the first is 0
  std::string state;    // "due" "acting" "done" "failed" "expired"
  int64_t attempts = 0;
  absl::Time not_before;  // of the next attempt
  absl::Time expires;     // an attempt that would be the first does not begin later
  std::string outcome;    // of the last attempt
  std::string output;
};

// The task after a run of its hook: done, or due again after a pause, or failed for good.
Task AfterRun(Task task, const HookResult& result, absl::Time now);

// A gateway to the table of tasks in a database that was migrated (schema.h). `now` is
// the history's time. Calls marked "under the lock" change several rows or take turns: the
// caller holds the lock (WithLock). Not thread-safe.
class Journal {
 public:
  // `holder` names this process among all that work on the same database. It claims
  // only tasks of `hooks`: who can write to the database decides when they run, not which files.
  Journal(Database& database, std::string holder, std::vector<std::string> hooks)
      : database_(database), holder_(std::move(holder)), hooks_(std::move(hooks)) {}

  // Under the lock: adds a task; one that is there already stays as it is.
  absl::Status Add(const Task& task, absl::Time now);

  // Under the lock: the oldest task of its hooks that may run now, which is this process's
  // until `lease` is over; nullopt if there is none.
  absl::StatusOr<std::optional<Task>> Claim(absl::Time now, absl::Duration lease);

  // Ends a claimed task that is not to be run after all: it expires, and `why` is its outcome.
  absl::Status Abandon(const Task& task, const std::string& why, absl::Time now);

  // Stores the result of a claimed task. NOT_FOUND if another process holds it by now.
  absl::Status Finish(const Task& task, const HookResult& result, absl::Time now);

  // Under the lock: tasks that were never begun and may not be any more become expired;
  // those that used up their attempts with their runners, or were begun and are much too
  // late (kLongestHookDelay), become failed. Tasks of any hook; all changed ones are returned.
  absl::StatusOr<std::vector<Task>> Expire(absl::Time now);

  // After a restart: makes tasks that this holder had claimed due at once. Holder names
  // must be unique.
  absl::Status Resume();

  absl::StatusOr<std::vector<Task>> TasksOf(const std::string& incident);
  // The time when the next attempt of its hooks may begin, for tasks that wait for their time
  // only; InfiniteFuture: no task does.
  absl::StatusOr<absl::Time> NextDue(absl::Time now);

 private:
  Database& database_;
  const std::string holder_;
  const std::vector<std::string> hooks_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_JOURNAL_H_

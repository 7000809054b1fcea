// RemovalLoop runs a remover over a history that may be down, with hooks that are processes.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_LOOP_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_LOOP_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/policy/policy.h"
#include "coordinator/removal/remover.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Decides and acts, and logs both. A history that is down is tried again for as long as it takes:
// soon at first, then seldom.
class RemovalLoop {
 public:
  struct Settings {
    std::string fleet_db;  // as OpenDatabase takes it
    Policy policy;
    // A file that is read before each turn for the policy's tenant_machines (ReadTenantMachines);
    // empty: none. If it cannot be read, its last content holds.
    std::string tenant_machines = {};
    std::optional<std::string> job;  // only findings of this job; empty: of any
    std::vector<std::string> hooks;
    absl::Duration hook_timeout;
    // Interval at which the loop looks for new rows of others in the history; InfiniteDuration:
    // only when it is woken.
    absl::Duration poll = kRemovalPoll;
    // Called on Run's thread before and after every turn; the latter whether the turn succeeded
    // or not, with the history if it could be opened (nullptr: it could not, or removal is
    // off); returns how long the next turn may be put off. Both may be empty.
    std::function<void()> before_turn = {};
    std::function<absl::Duration(Database* history, const absl::StatusOr<Remover::Report>& turn)>
        after_turn = {};
  };

  // `runner` outlives the loop.
  RemovalLoop(Settings settings, HookRunner& runner);

  // Runs one turn, on the thread that calls Run. Errors are those of Database and Remover; the
  // turn has not logged them.
  absl::StatusOr<Remover::Report> Turn();
  // Works until Stop.
  void Run();

  // Thread-safe: there is something new in the history.
  void Wake();
  // Thread-safe, for good: no hook begins any more. The runner stops a hook that runs.
  void Stop();

 private:
  absl::Status Open();
  void ReadTenants();
  // Waits until work is due; false: the loop is to stop.
  bool Wait(absl::Duration at_most);
  bool Stopping();
  void NoteOutcome(const absl::Status& status);

  const Settings settings_;
  HookRunner& runner_;
  const std::string holder_;

  // Only Run's thread uses these.
  std::unique_ptr<Database> database_;
  std::optional<FleetClock> clock_;
  std::optional<Remover> remover_;
  absl::Duration next_ = absl::InfiniteDuration();  // a task is due after this
  absl::Status problem_;                            // as the log last said
  absl::Status tenants_problem_;                    // as the log last said

  Mutex mutex_;
  ConditionVariable changed_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

// Logs the outcome of a hook in one line.
void LogHook(const Task& task);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_LOOP_H_

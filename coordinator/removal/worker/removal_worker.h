// RemovalWorker carries an incident from the disk to its hooks: the fleet remembers it, policy
// decides, hooks run.
//
//   Expect ─► on disk? ─► hooks.json ─► fleet history ─► decisions ─► hooks
//
//   <state-dir>/incidents/<id>/hooks.json   the incident's own hooks, and whether the history has
//                                           it; copies of decisions, and of hooks for removals
//   <state-dir>/journal.lock   one process at a time works on these files
//   <state-dir>/fleet.db       the history, unless --fleet-db names another
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/policy/policy.h"
#include "coordinator/removal/removal_counts.h"
#include "coordinator/store/disk.h"
#include "proto/common/worker/thread.h"

namespace rapideye::coordinator {

struct RemovalSettings {
  Policy policy;
  std::string fleet_db;  // empty: a history in the state directory, for this job alone
  std::vector<std::string> hooks;
  absl::Duration hook_timeout = kHookTimeout;
  std::string tenant_machines = {};  // a file, as RemovalLoop reads it
};

// Counts events between incidents and removals since the start.
struct RemovalCounters : RemovalCounts {
  int64_t incidents_delivered = 0;  // to the fleet history
  int64_t delivery_failures = 0;
};

struct RemovalReport {
  RemovalCounters counters;
  bool history_works = true;
  // The fleet's breaker in this coordinator's mode is open; absent: it has not been read, or
  // removal is off.
  std::optional<bool> breaker_open;
};

// Thread-safe. Everything happens on threads of its own: a history, a disk or a hook
// that hangs delays no digest and holds up no end.
class RemovalWorker {
 public:
  struct Settings {
    RemovalSettings removal;
    std::string state_dir;
    std::optional<std::string> job;  // empty: that of the newest incident, as long as there is one
    Disk* disk = nullptr;            // outlives the process: a disk may hang
    // Carries hooks out; shared, since a hook may hang, too.
    std::shared_ptr<HookRunner> runner;
  };

  // Resumes the work of an earlier process: incidents that the history does not hold
  // yet, hooks that have not run.
  explicit RemovalWorker(Settings settings);
  // Takes up incidents that are on disk. Leaves a thread that hangs behind.
  ~RemovalWorker();
  RemovalWorker(const RemovalWorker&) = delete;
  RemovalWorker& operator=(const RemovalWorker&) = delete;

  // Registers an incident that is being written to disk.
  void Expect(IncidentRecord incident);
  // Returns a function that reports an incident on disk; it may outlive the worker.
  std::function<void(const std::string& incident)> Arrived() const;

  // The same for an incident whose end is on disk.
  std::function<void(const std::string& incident)> Ended() const;

  // Starts no further work. The runner, not the worker, stops a hook that runs.
  void Stop();
  RemovalReport Report() const;

 private:
  struct State;  // outlives this while something hangs

  const std::shared_ptr<State> state_;
  Thread thread_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_H_

// RemovalWorker::State holds the data and the work of the worker's thread; it may outlive the
// worker.
//
// Each digest of an incident is taken up for itself: where nothing else is said, `key` and the
// names of incidents here are IncidentKeys.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_STATE_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_STATE_H_

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/publisher.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/removal/removal_loop.h"
#include "coordinator/removal/worker/incident_hooks.h"
#include "coordinator/removal/worker/removal_worker.h"
#include "coordinator/store/incident_archive.h"
#include "proto/common/file/file_lock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Reads a digest that is too large for the history from the incident's files.
class RunnerWithDigests final : public HookRunner {
 public:
  RunnerWithDigests(std::shared_ptr<HookRunner> runner, const IncidentArchive& archive)
      : runner_(std::move(runner)), archive_(archive) {}

  HookResult Run(const HookCall& call) override {
    if (!call.digest.empty()) return runner_->Run(call);
    HookCall complete = call;
    const std::string id = EventOf(call.finding.incident).id;
    if (auto digest = archive_.Read(id, IncidentForm::kJson); digest.ok()) {
      complete.digest = *std::move(digest);
    }
    return runner_->Run(complete);
  }

 private:
  const std::shared_ptr<HookRunner> runner_;
  const IncidentArchive& archive_;
};

void LogHistory(const absl::Status& status);

struct RemovalWorker::State {
  explicit State(Settings given)
      : settings(std::move(given)),
        archive(settings.state_dir),
        runner(settings.runner, archive),
        shared_history(!settings.removal.fleet_db.empty()),
        history_url(shared_history ? settings.removal.fleet_db
                                   : absl::StrCat("sqlite:", settings.state_dir, "/fleet.db")),
        old_journal(absl::StrCat(settings.state_dir, "/journal.db")),
        publisher({.history_url = history_url,
                   .digest = [this](const std::string& key) { return DigestOf(key); },
                   .changed = LogHistory}),
        job(settings.job) {}

  const Settings settings;
  const IncidentArchive archive;
  RunnerWithDigests runner;
  const bool shared_history;
  const std::string history_url;
  const std::string old_journal;  // of version 0.1

  // Only the thread uses these.
  std::optional<file::FileLock> alone;
  absl::Status disk_problem;  // as the log last said
  std::optional<FleetClock> clock;
  std::optional<IncidentHooks> hooks;
  Publisher publisher;
  std::set<std::string> old_incidents;  // that the history may lack, and only the old journal has
  std::set<std::string> undecided;      // incidents whose hooks wait for a decision
  std::set<std::string> untold;  // incidents whose record lacks decisions or removals of late
  std::set<std::string> ending;  // ids of incidents whose end their hooks are yet to hear of
  Database* history = nullptr;

  mutable Mutex mutex;
  ConditionVariable changed;
  std::deque<IncidentRecord> expected ABSL_GUARDED_BY(mutex);  // oldest first
  std::deque<IncidentRecord> arrived ABSL_GUARDED_BY(mutex);
  std::vector<std::string> ended ABSL_GUARDED_BY(mutex);  // ids
  std::optional<std::string> job ABSL_GUARDED_BY(mutex);
  std::shared_ptr<RemovalLoop> loop ABSL_GUARDED_BY(mutex);
  RemovalReport report ABSL_GUARDED_BY(mutex);
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  bool closing ABSL_GUARDED_BY(mutex) = false;

  const Policy& policy() const { return settings.removal.policy; }
  std::string DirectoryOf(const std::string& key) const {
    return absl::StrCat(settings.state_dir, "/incidents/", EventOf(key).id);
  }
  bool GoesOn() const {
    const MutexLock lock(mutex);
    return !stopping;
  }
  void Wake() {
    const MutexLock lock(mutex);
    if (loop != nullptr) loop->Wake();
    changed.NotifyAll();
  }

  void Run();
  std::optional<std::string> JobOnDisk() const;
  // Waits until there is a job to decide about, and makes its loop. nullptr: the worker is to stop.
  std::shared_ptr<RemovalLoop> NextLoop();
  std::shared_ptr<RemovalLoop> MakeLoop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Waits until this process is alone in the directory, then loads what is left to do.
  absl::Status OpenHooks();
  bool Knows(const std::string& key) const;
  // Takes the hooks and incidents of version 0.1 into the incidents' directories.
  absl::Status TakeOver();
  absl::Status EndTakeOver();
  // Takes up incidents that an earlier process wrote to disk and did not process.
  void Recover(bool first_run);
  void RecoverOne(const std::string& id, bool is_recent, bool first_run);
  void RecoverDigest(const std::string& key, const absl::StatusOr<std::string>& digest,
                     bool first_run);
  void TakeUp();
  void Note(const absl::Status& problem);
  absl::Status TakeUpOne(const IncidentRecord& incident);
  void Publish(bool last = false);
  std::string DigestOf(const std::string& key) const;
  absl::Duration AfterTurn(Database* database, const absl::StatusOr<Remover::Report>& turn);
  void Count(const Remover::Report& turn);
  void ReleaseDecided();
  // Has the hooks run for the ends of incidents; true if some are due now.
  bool AddEnds();
  absl::StatusOr<bool> AddEndOf(const std::string& id, bool& due);
  std::optional<std::string> NeedNotRun(const Task& task) const;
  std::optional<std::string> RanForRemoval(const Task& task) const;
  absl::StatusOr<HookCall> CallFor(const Task& task) const;
  // Copies the decisions about incidents, and the runs of hooks for removals, to their records.
  void TellRecords();
  absl::Status TellRecord(const std::string& id);
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_WORKER_STATE_H_

// IncidentPipeline writes incidents to the state directory, on a thread of its own, and retries
// until they are on disk.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_PIPELINE_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/store/incident_notes.h"
#include "coordinator/store/incident_store.h"
#include "coordinator/store/pending_incidents.h"
#include "proto/common/worker/periodic_worker.h"

namespace rapideye::coordinator {

// Counts events of the state directory since the start.
struct DiskCounters {
  int64_t written = 0;               // incidents
  int64_t write_failures = 0;        // tries that failed
  int64_t hangs = 0;                 // times the disk did not answer within patience
  int64_t given_up = 0;              // incidents that never came to disk
  int64_t removed = 0;               // incidents, by the retention
  int64_t retention_failures = 0;    // rounds of the retention that failed
  int64_t half_written_removed = 0;  // incidents that a crash had left
};

// The state of the state directory.
struct DiskReport {
  DiskCounters counters;
  // The reason why incidents cannot be written, and the remedy; empty: they can.
  std::string problem;
  int64_t pending_incidents = 0;  // that wait in memory
  int64_t pending_bytes = 0;
  int64_t kept_incidents = 0;  // on disk, at the last look
  int64_t kept_bytes = 0;
};

// Thread-safe. An incident that cannot be written stays in memory, in bounds, and is tried
// again until the disk takes it; the log has each failure, and each incident that is given up
// in the end.
class IncidentPipeline {
 public:
  struct Settings {
    Retention retention;
    PendingIncidents::Limits pending;
    // A disk that takes longer than this counts as hanging.
    absl::Duration patience = kDiskPatience;
    // Called for each digest of an incident that is on disk (IncidentKey), with the time that the
    // writing took, on a thread that may outlive the pipeline. May be empty.
    std::function<void(const std::string& key, absl::Duration took)> wrote;
    // Called on that thread for each incident whose end is on disk. May be empty.
    std::function<void(const std::string& id)> ended = {};
  };

  // Prepares the state directory, off the calling thread.
  IncidentPipeline(IncidentStore store, Settings settings);
  // Tries once more to write the incidents that wait; if the disk hangs, leaves the thread
  // behind. Logs the incidents that are lost.
  ~IncidentPipeline();
  IncidentPipeline(const IncidentPipeline&) = delete;
  IncidentPipeline& operator=(const IncidentPipeline&) = delete;

  // The result of the first try; an error is in the log already.
  std::future<absl::Status> Keep(IncidentFiles incident);
  // Records the end of an incident, once all its digests are on disk; tries until the disk takes
  // it. Does nothing for an incident that the disk does not have.
  void End(const EndedIncident& ended);
  // Records that an operator takes care of an incident; returns the result of the only try.
  std::future<absl::Status> Acknowledge(const std::string& id,
                                        const Acknowledgement& acknowledgement);
  // Logs once that the disk hangs, and once that it works again. To be called about
  // once a second.
  void Watch();
  DiskReport Report() const;
  // The directory where an incident's files lie, or will lie.
  std::string PathOf(const std::string& id) const;

 private:
  // The state of the thread. It may outlive the pipeline if the disk hangs.
  struct State;

  const std::shared_ptr<State> state_;
  PeriodicWorker worker_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_PIPELINE_H_

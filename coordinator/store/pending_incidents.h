// PendingIncidents queues incidents that are not on disk yet, and schedules retries.
#ifndef RAPIDEYE_COORDINATOR_STORE_PENDING_INCIDENTS_H_
#define RAPIDEYE_COORDINATOR_STORE_PENDING_INCIDENTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/limits.h"
#include "coordinator/store/incident_store.h"
#include "proto/common/backoff/backoff.h"

namespace rapideye::coordinator {

// The files to write. Shared, so that it can be dropped while it is written.
struct IncidentFiles {
  std::string id;
  std::vector<IncidentFile> files;
  // More than 1: a later digest, which replaces the one on disk.
  int64_t revision = 1;
};

// Reads no clock: `now` is an argument, on any clock that never goes back. Not
// synchronised.
class PendingIncidents {
 public:
  struct Limits {
    size_t incidents = kMaxPendingIncidents;
    int64_t bytes = kMaxPendingBytes;
    absl::Duration first_retry = kFirstDiskRetry;
    absl::Duration longest_retry = kLongestDiskRetry;
  };

  explicit PendingIncidents(Limits limits) : limits_(limits) {}

  // Adds an incident, due at once. Returns the ids that were dropped to make room: the
  // oldest, but never the one that is being written. The newest is kept whatever its
  // size.
  std::vector<std::string> Add(IncidentFiles incident, absl::Duration now);

  // The oldest incident that is due; it is being written from then on, until
  // Written or Failed. nullptr if there is none, or one is being written already.
  std::shared_ptr<const IncidentFiles> Begin(absl::Duration now);
  // The incident of Begin is on disk. Makes the others due at once: the disk works.
  void Written(absl::Duration now);
  struct Failure {
    int tries = 0;  // so far
    absl::Duration retry_in;
  };
  Failure Failed(absl::Duration now);

  // The next time at which Begin returns an incident; infinite if never.
  absl::Duration NextDue() const;
  // Makes everything due: the last try before the end.
  void MakeDue();
  std::vector<std::string> Ids() const;  // oldest first
  size_t size() const { return entries_.size(); }
  int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::shared_ptr<const IncidentFiles> incident;
    int64_t bytes = 0;
    int tries = 0;
    absl::Duration due;
    Backoff retry;
  };
  std::deque<Entry>::iterator InProgress();

  Limits limits_;
  std::deque<Entry> entries_;  // oldest first
  int64_t bytes_ = 0;          // size of all entries
  const IncidentFiles* in_progress_ = nullptr;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_PENDING_INCIDENTS_H_

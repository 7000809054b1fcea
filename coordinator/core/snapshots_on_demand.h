// Takes snapshots of the job for operators who ask for them, hang or not.
//
// A snapshot on demand stands beside the watch and never in its way: the watch goes on
// judging and learning, and a suspicion that arises ends the collection. Whether the job
// hangs is decided by the watch alone; a snapshot on demand raises, stores and counts
// nothing, so it can never cost a hang its one digest.
#ifndef RAPIDEYE_COORDINATOR_CORE_SNAPSHOTS_ON_DEMAND_H_
#define RAPIDEYE_COORDINATOR_CORE_SNAPSHOTS_ON_DEMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/incident.h"
#include "coordinator/core/watched_job.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

// Each request is answered once: by an Examine, a SnapshotAnswered or a SnapshotRefused.
class SnapshotsOnDemand {
 public:
  explicit SnapshotsOnDemand(absl::Duration collect_deadline)
      : collect_deadline_(collect_deadline) {}

  // Keeps the request for the next collection; or refuses it at once, if there is no worker
  // to ask or too many wait.
  void Request(Ticket ticket, const WatchedJob& job, Effects& effects);
  // Acts on the state of the collection, and begins one for requests that wait. `may_begin`: no
  // incident is being collected or concluded, whose end would answer the requests.
  void Follow(bool may_begin, WatchedJob& job, const Instant& now, Effects& effects);
  // Ends the collection, if there is one; its requests go on waiting.
  void Abandon(Effects& effects);
  // Both answer all requests that wait.
  void RefuseAll(const absl::Status& status, Effects& effects);
  void AnswerAll(const std::string& incident_id, Effects& effects);

  // The collection, if there is one. Its trigger is "operator".
  std::optional<Incident>& collection() { return collection_; }
  const std::optional<Incident>& collection() const { return collection_; }

 private:
  void Begin(WatchedJob& job, const Instant& now, Effects& effects);
  void Conclude(WatchedJob& job, absl::Duration now, Effects& effects);

  absl::Duration collect_deadline_;
  std::optional<Incident> collection_;
  std::vector<Ticket> waiting_;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_SNAPSHOTS_ON_DEMAND_H_

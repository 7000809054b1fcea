// IncidentRecovery finds the incidents that an earlier coordinator has left on disk, and logs the
// digest of one of them again.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_INCIDENT_RECOVERY_H_
#define RAPIDEYE_COORDINATOR_DAEMON_INCIDENT_RECOVERY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/events.h"
#include "proto/common/worker/closable_sink.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

// Called by one thread.
class IncidentRecovery {
 public:
  using Read = std::function<absl::StatusOr<std::string>(const std::string& incident_id)>;

  using List = std::function<absl::StatusOr<IncidentsOnDisk>()>;

  // `read` may take as long as a disk does, on a thread of its own, which may
  // outlive this object; the other two are not called after its end.
  IncidentRecovery(Read read, DigestLog log_digest, std::function<void(Event)> post);
  // Waits for work under way, at most kDiskPatience.
  ~IncidentRecovery();

  // Posts the incidents that `list` returns, which may take as long as `read`. On
  // an error, which the disk reports, it posts nothing.
  void FindLeft(List list);

  // Posts IncidentConcluded once the digest is in the log, or IncidentUnreadable
  // if the disk does not give it within kDiskPatience.
  void Begin(const std::string& incident_id);

 private:
  void Retell(const std::string& incident_id);

  const Read read_;
  const DigestLog log_digest_;
  const std::shared_ptr<ClosableSink<Event>> sink_;  // closed at the end of this object
  Worker lister_;                                    // left behind at the end
  Worker reteller_;                                  // waited for
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_INCIDENT_RECOVERY_H_

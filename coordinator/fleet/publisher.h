// Publisher records incidents in the fleet history once it can be reached.
#ifndef RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_
#define RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/records/records.h"
#include "proto/common/backoff/backoff.h"

namespace rapideye::coordinator {

// Incidents wait in memory: their directories on disk are the durable queue, and the caller notes
// there which of them were delivered. To deliver an incident twice changes nothing. Not
// thread-safe; a turn may block for as long as a database may take.
class Publisher {
 public:
  struct Settings {
    std::string history_url;
    // Returns the digest of an incident (IncidentKey), empty if there is none.
    std::function<std::string(const std::string& incident)> digest;
    absl::Duration first_retry = kFirstHistoryRetry;
    absl::Duration longest_retry = kLongestHistoryRetry;
    // Called when the history cannot be written to, once for each kind of reason, and when it can
    // be again (OK). May be empty.
    std::function<void(const absl::Status&)> changed = {};
  };

  explicit Publisher(Settings settings);

  // Has an incident wait for the next turn; its digest is not kept. One that waits already stays
  // as it is.
  void Add(IncidentRecord incident);
  bool Waits(const std::string& incident) const;

  // Delivers the incidents that wait, the oldest first, and returns those (IncidentKeys) that the
  // history has now. An incident that the history refuses does not hold up the others; it is tried
  // again. Does nothing while the history was down a moment ago; `last`: nor if it was down at all,
  // since the process ends.
  std::vector<std::string> Turn(bool last = false);
  // The time until a turn has work; InfiniteDuration if nothing waits.
  absl::Duration UntilNext() const;

  size_t failures() const { return failures_; }             // turns that ended in a problem
  const absl::Status& problem() const { return problem_; }  // of the last turn

 private:
  absl::Status Open();
  absl::Status Deliver(std::vector<std::string>& delivered);

  const Settings settings_;
  std::unique_ptr<Database> history_;
  std::deque<IncidentRecord> waiting_;
  absl::Status problem_;
  size_t failures_ = 0;
  bool opened_ = false;  // or tried to
  Backoff backoff_;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_

// Publisher moves incidents from a spool to the fleet history, on a thread of its own.
#ifndef RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_
#define RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/fleet/limits.h"
#include "proto/common/worker/periodic_worker.h"

namespace rapideye::coordinator {

// Thread-safe. A history that is down delays no caller: incidents wait in the spool until
// the history has them, across restarts of this process.
class Publisher {
 public:
  struct Settings {
    std::string spool_url;    // sqlite:PATH in the state directory; made if missing
    std::string history_url;  // the fleet's
    absl::Duration first_retry = kFirstHistoryRetry;
    absl::Duration longest_retry = kLongestHistoryRetry;
    // Called on the publisher's thread whenever the history has something new. May be empty.
    std::function<void()> delivered = {};
    // Called on the publisher's thread when the history cannot be written to, once for each kind of
    // reason, and when it can be again (OK). May be empty.
    std::function<void(const absl::Status&)> changed = {};
  };
  struct Report {
    size_t delivered = 0;
    size_t failures = 0;   // turns that ended in a problem
    absl::Status problem;  // the latest turn's; OK: nothing waits
  };

  // Delivers incidents that an earlier process left in the spool, too.
  explicit Publisher(Settings settings);
  // Tries to deliver once more unless the history was down just now; the spool keeps the rest.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // To be called after a new incident was put into the spool. Returns at once.
  void Wake();
  Report GetReport() const;

 private:
  struct State;

  const std::unique_ptr<State> state_;
  PeriodicWorker worker_;  // last: its turns use the state
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_PUBLISHER_H_

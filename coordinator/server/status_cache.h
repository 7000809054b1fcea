// StatusCache answers requests for the state of the job, at a bounded cost to the core.
#ifndef RAPIDEYE_COORDINATOR_SERVER_STATUS_CACHE_H_
#define RAPIDEYE_COORDINATOR_SERVER_STATUS_CACHE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/server/event_queue.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Thread-safe. The core makes at most one report per kStatusFresh, for any number of
// requests; all requests in between get the same one.
class StatusCache {
 public:
  // nullptr: the coordinator is stopping.
  using Answer = std::function<void(std::shared_ptr<const JobStatus>)>;

  explicit StatusCache(EventQueue& queue) : queue_(queue) {}

  // `now`: the steady clock. Calls `answer` once: at once on this thread, or later on
  // the core's; it must not block, and must not call Ask.
  void Ask(absl::Duration now, Answer answer);

  // The state has changed by an operator's doing: requests from now on get a report of after it.
  void Expire();

  // Passes the core's answer to all requests that wait.
  void Report(absl::Duration now, JobStatus status);
  // The core is stopping: answers all requests, present and later, with nullptr.
  void Stop();

 private:
  void Give(std::shared_ptr<const JobStatus> status, absl::Duration now);

  EventQueue& queue_;
  Mutex mutex_;
  std::vector<Answer> waiting_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const JobStatus> last_ ABSL_GUARDED_BY(mutex_);
  absl::Duration reported_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_STATUS_CACHE_H_

// EventQueue carries events from the threads of the shells to the one that owns the core.
#ifndef RAPIDEYE_COORDINATOR_SERVER_EVENT_QUEUE_H_
#define RAPIDEYE_COORDINATOR_SERVER_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Events on their way to the core. Thread-safe.
class EventQueue {
 public:
  // Adds a message of a peer. False if too many bytes wait already: the caller
  // must close the sender's stream, and no other.
  bool PostMessage(MessageReceived message);
  // Adds any other event; always taken, since each stream causes only a few.
  void Post(Event event);
  struct Depth {
    size_t events = 0;  // that wait
    int64_t bytes = 0;  // of the messages among them
  };
  Depth depth() const;
  // Takes the oldest event, once there is one; nullopt at `deadline` (steady clock).
  std::optional<Event> Pop(absl::Duration deadline);

 private:
  mutable Mutex mutex_;
  ConditionVariable filled_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_EVENT_QUEUE_H_

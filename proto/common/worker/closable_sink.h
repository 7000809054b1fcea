// ClosableSink passes events to a function until it is closed: for a thread that may outlive its
// listener.
#ifndef RAPIDEYE_PROTO_COMMON_WORKER_CLOSABLE_SINK_H_
#define RAPIDEYE_PROTO_COMMON_WORKER_CLOSABLE_SINK_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "proto/common/sync/mutex.h"

namespace rapideye {

// Thread-safe; shared between listener and thread. The function is called by one thread at a
// time, and must neither send nor close.
template <typename Event>
class ClosableSink {
 public:
  explicit ClosableSink(std::function<void(Event)> sink) : sink_(std::move(sink)) {}

  // Does nothing once it is closed.
  void Send(Event event) {
    const MutexLock lock(mutex_);
    if (sink_) sink_(std::move(event));
  }
  // Waits for a call under way; there is none afterwards.
  void Close() {
    std::function<void(Event)> closed;  // goes after the lock
    const MutexLock lock(mutex_);
    closed.swap(sink_);
  }

 private:
  Mutex mutex_;
  std::function<void(Event)> sink_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_WORKER_CLOSABLE_SINK_H_

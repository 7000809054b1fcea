// EventQueue holds events until the thread that owns the core takes them.
#ifndef RAPIDEYE_AGENT_DAEMON_EVENT_QUEUE_H_
#define RAPIDEYE_AGENT_DAEMON_EVENT_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "agent/core/effects.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::agent {

// Any thread may push; one pops. Producers pace themselves (one poll, one
// unread message, one end per stream), so only a bug can reach the bound:
// an event beyond it is dropped and counted.
class EventQueue {
 public:
  explicit EventQueue(size_t capacity);

  void Push(Event event);
  // The oldest event, or nothing once `deadline` has come.
  std::optional<Event> Pop(std::chrono::steady_clock::time_point deadline);
  size_t dropped() const;

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  ConditionVariable not_empty_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  size_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_EVENT_QUEUE_H_

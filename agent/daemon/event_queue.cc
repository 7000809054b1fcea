#include "agent/daemon/event_queue.h"

#include <utility>

#include "absl/time/time.h"

namespace rapideye::agent {

EventQueue::EventQueue(size_t capacity) : capacity_(capacity) {}

void EventQueue::Push(Event event) {
  {
    const MutexLock lock(mutex_);
    // A request to shut down is taken even if the queue is full.
    if (events_.size() >= capacity_ && !std::holds_alternative<ShutdownRequested>(event)) {
      ++dropped_;
      return;
    }
    events_.push_back(std::move(event));
  }
  // Notified only after the lock is free: under it the thread would wake twice.
  not_empty_.NotifyOne();
}

std::optional<Event> EventQueue::Pop(std::chrono::steady_clock::time_point deadline) {
  const absl::Duration end = absl::FromChrono(deadline.time_since_epoch());
  const MutexLock lock(mutex_);
  while (events_.empty() && not_empty_.WaitUntil(mutex_, end)) {
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

size_t EventQueue::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace rapideye::agent

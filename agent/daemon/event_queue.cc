#include "agent/daemon/event_queue.h"

#include <utility>

namespace rapideye::agent {

EventQueue::EventQueue(size_t capacity) : capacity_(capacity) {}

void EventQueue::Push(Event event) {
  {
    const std::lock_guard lock(mutex_);
    // Shutting down is never too much.
    if (events_.size() >= capacity_ && !std::holds_alternative<ShutdownRequested>(event)) {
      ++dropped_;
      return;
    }
    events_.push_back(std::move(event));
  }
  // Whoever is woken would wait for the lock, and be woken twice.
  not_empty_.notify_one();
}

std::optional<Event> EventQueue::Pop(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!not_empty_.wait_until(lock, deadline, [this] { return !events_.empty(); })) {
    return std::nullopt;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

size_t EventQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace rapideye::agent

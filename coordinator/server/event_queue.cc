#include "coordinator/server/event_queue.h"

#include <chrono>
#include <utility>
#include <variant>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

bool EventQueue::PostMessage(MessageReceived message) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + message.memory > kMaxQueuedBytes) return false;
  bytes_ += message.memory;
  events_.emplace_back(std::move(message));
  filled_.notify_one();
  return true;
}

void EventQueue::Post(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  filled_.notify_one();
}

EventQueue::Depth EventQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return {.events = events_.size(), .bytes = bytes_};
}

std::optional<Event> EventQueue::Pop(absl::Duration deadline) {
  std::unique_lock lock(mutex_);
  const auto filled = [this] { return !events_.empty(); };
  if (deadline == absl::InfiniteDuration()) {
    filled_.wait(lock, filled);
  } else {
    const std::chrono::steady_clock::time_point until(absl::ToChronoNanoseconds(deadline));
    if (!filled_.wait_until(lock, until, filled)) return std::nullopt;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  if (const auto* message = std::get_if<MessageReceived>(&event)) bytes_ -= message->memory;
  return event;
}

}  // namespace rapideye::coordinator

#include "coordinator/server/event_queue.h"

#include <utility>
#include <variant>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

bool EventQueue::PostMessage(MessageReceived message) {
  const MutexLock lock(mutex_);
  if (bytes_ + message.memory > kMaxQueuedBytes) return false;
  bytes_ += message.memory;
  events_.emplace_back(std::move(message));
  filled_.NotifyOne();
  return true;
}

void EventQueue::Post(Event event) {
  const MutexLock lock(mutex_);
  events_.push_back(std::move(event));
  filled_.NotifyOne();
}

EventQueue::Depth EventQueue::depth() const {
  const MutexLock lock(mutex_);
  return {.events = events_.size(), .bytes = bytes_};
}

std::optional<Event> EventQueue::Pop(absl::Duration deadline) {
  const MutexLock lock(mutex_);
  while (events_.empty() && filled_.WaitUntil(mutex_, deadline)) {
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (const auto* message = std::get_if<MessageReceived>(&event)) bytes_ -= message->memory;
  return event;
}

}  // namespace rapideye::coordinator

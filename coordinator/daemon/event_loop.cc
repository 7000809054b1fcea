#include "coordinator/daemon/event_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

Now CurrentTime() {
  return Now{.monotonic = absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()),
             .wall = absl::Now()};
}

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

void RunEventLoop(CoordinatorCore& core, EventQueue& queue, EffectHandler& handler,
                  const LoopObserver& observer) {
  absl::Duration stop_by = absl::InfiniteDuration();
  absl::Duration housekeeping = CurrentTime().monotonic + kHousekeeping;
  for (;;) {
    Now now = CurrentTime();
    const absl::Duration wake = std::min({core.NextWake(now.monotonic), housekeeping, stop_by});
    Event event = queue.Pop(wake).value_or(Tick{});
    now = CurrentTime();
    std::optional<StreamId> sender;
    if (const auto* message = std::get_if<MessageReceived>(&event)) sender = message->stream;
    if (const auto* skipped = std::get_if<MessageSkipped>(&event)) sender = skipped->stream;
    if (std::holds_alternative<Stop>(event)) stop_by = now.monotonic + kStopIncident;
    if (observer.event) observer.event(event);
    for (Effect& effect : core.Step(std::move(event), now)) {
      if (observer.effect) observer.effect(effect);
      std::visit([&](auto& e) { handler.Handle(std::move(e)); }, effect);
    }
    if (sender.has_value()) handler.ReadNext(*sender);
    if (now.monotonic >= housekeeping) {
      handler.Housekeep();
      housekeeping = now.monotonic + kHousekeeping;
    }
    if (core.Finished() || now.monotonic >= stop_by) return;
  }
}

}  // namespace rapideye::coordinator

#include "coordinator/daemon/event_loop.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "coordinator/core/limits.h"
#include "proto/common/clock/clock.h"

namespace rapideye::coordinator {

void RunEventLoop(CoordinatorCore& core, EventQueue& queue, EffectHandler& handler,
                  const LoopObserver& observer) {
  absl::Duration stop_by = absl::InfiniteDuration();
  absl::Duration housekeeping = MonotonicTime() + kHousekeeping;
  for (;;) {
    Instant now = CurrentInstant();
    const absl::Duration wake = std::min({core.NextWake(now.monotonic), housekeeping, stop_by});
    Event event = queue.Pop(wake).value_or(Tick{});
    now = CurrentInstant();
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

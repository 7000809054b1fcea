// The event loop runs the core on the one thread that owns it.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_
#define RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_

#include <functional>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/events.h"
#include "coordinator/server/event_queue.h"

namespace rapideye::coordinator {

// Carries out the effects of the core. Called on the loop's thread; must not
// block.
class EffectHandler {
 public:
  virtual ~EffectHandler() = default;
  virtual void Handle(Send effect) = 0;
  virtual void Handle(Close effect) = 0;
  virtual void Handle(Conclude effect) = 0;
  virtual void Handle(TextsGathered effect) = 0;
  virtual void Handle(Retell effect) = 0;
  virtual void Handle(StatusReport effect) = 0;
  virtual void Handle(Examine effect) = 0;
  virtual void Handle(SnapshotAnswered effect) = 0;
  virtual void Handle(SnapshotRefused effect) = 0;
  virtual void Handle(PauseAnswered effect) = 0;
  virtual void Handle(PauseChanged effect) = 0;
  virtual void Handle(IncidentEnded effect) = 0;
  virtual void Handle(Log effect) = 0;
  // The core has taken a message of this stream: the next one may be read.
  virtual void ReadNext(StreamId stream) = 0;
  // Called about once a second.
  virtual void Housekeep() = 0;
};

// Observes every event before the core takes it, and every effect before it is
// carried out, on the loop's thread: for tests.
struct LoopObserver {
  std::function<void(const Event&)> event;
  std::function<void(const Effect&)> effect;
};

// Feeds the core until a Stop event has been taken and no incident is being
// concluded any more, but no longer than kStopIncident after Stop.
void RunEventLoop(CoordinatorCore& core, EventQueue& queue, EffectHandler& handler,
                  const LoopObserver& observer = {});

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_

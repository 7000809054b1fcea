// The one thread that owns the core, and the queue that feeds it.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_
#define RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/events.h"

namespace rapideye::coordinator {

// Events on their way to the core. Thread-safe.
class EventQueue {
 public:
  // A message of a peer. False if too many bytes wait already: the sender's
  // stream is to be closed, nobody else's.
  bool PostMessage(MessageReceived message);
  // Anything else; always taken, since each stream causes only a few.
  void Post(Event event);
  struct Depth {
    size_t events = 0;  // that wait
    int64_t bytes = 0;  // of the messages among them
  };
  Depth depth() const;
  // The oldest event, once there is one; nullopt at `deadline` (steady clock).
  std::optional<Event> Pop(absl::Duration deadline);

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Event> events_;
  int64_t bytes_ = 0;
};

// What the effects of the core are carried out by. Called on the loop's thread;
// must not block.
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
  virtual void Handle(Log effect) = 0;
  // The core has taken a message of this stream: the next one may be read.
  virtual void ReadNext(StreamId stream) = 0;
  // Called about once a second.
  virtual void Housekeep() = 0;
};

// Is shown every event before the core takes it, and every effect before it is
// carried out, on the loop's thread: for tests.
struct LoopObserver {
  std::function<void(const Event&)> event;
  std::function<void(const Effect&)> effect;
};

// The clocks of this machine. The monotonic one is the steady clock.
Now CurrentTime();

// Feeds the core until a Stop event has been taken and no incident is being
// concluded any more, but no longer than kStopIncident after Stop.
void RunEventLoop(CoordinatorCore& core, EventQueue& queue, EffectHandler& handler,
                  const LoopObserver& observer = {});

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_EVENT_LOOP_H_

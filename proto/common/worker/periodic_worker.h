// PeriodicWorker takes turns at one piece of work on a thread of its own, whenever the next turn
// is due and whenever it is woken.
#ifndef RAPIDEYE_PROTO_COMMON_WORKER_PERIODIC_WORKER_H_
#define RAPIDEYE_PROTO_COMMON_WORKER_PERIODIC_WORKER_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "proto/common/worker/thread.h"

namespace rapideye {

// Wake is thread-safe; Stop and the destructor are the owner's.
class PeriodicWorker {
 public:
  // Returns when the next turn is due, as MonotonicTime() counts; InfiniteDuration(): only when
  // it is woken. `last` is set for the turn that Stop asks for; what that returns is ignored.
  using Turn = std::function<absl::Duration(bool last)>;

  // The first turn begins at once.
  explicit PeriodicWorker(Turn turn);
  // Does what Stop() does.
  ~PeriodicWorker();
  PeriodicWorker(const PeriodicWorker&) = delete;
  PeriodicWorker& operator=(const PeriodicWorker&) = delete;

  // Begins another turn now, or after the turn that is under way.
  void Wake();
  // Returns after one last turn. False if that takes longer than `patience`: then the thread is
  // left behind, so the turn must own all that it uses. Without a limit to the patience it
  // need not.
  bool Stop(absl::Duration patience = absl::InfiniteDuration());

 private:
  struct State;  // outlives this while the thread hangs

  const std::shared_ptr<State> state_;
  Thread thread_;
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_WORKER_PERIODIC_WORKER_H_

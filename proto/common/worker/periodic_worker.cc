#include "proto/common/worker/periodic_worker.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "proto/common/sync/mutex.h"

namespace rapideye {

struct PeriodicWorker::State {
  explicit State(Turn t) : turn(std::move(t)) {}

  const Turn turn;
  Mutex mutex;
  ConditionVariable changed;
  bool woken ABSL_GUARDED_BY(mutex) = false;
  bool stopping ABSL_GUARDED_BY(mutex) = false;

  void Run() {
    for (;;) {
      const bool last = BeginTurn();
      const absl::Duration due = turn(last);
      if (last) return;
      const MutexLock lock(mutex);
      while (!woken && !stopping && changed.WaitUntil(mutex, due)) {
      }
    }
  }

  // True: it is the last one.
  bool BeginTurn() {
    const MutexLock lock(mutex);
    woken = false;
    return stopping;
  }
};

PeriodicWorker::PeriodicWorker(Turn turn)
    : state_(std::make_shared<State>(std::move(turn))),
      thread_([state = state_] { state->Run(); }) {}

PeriodicWorker::~PeriodicWorker() { Stop(); }

void PeriodicWorker::Wake() {
  const MutexLock lock(state_->mutex);
  state_->woken = true;
  state_->changed.NotifyAll();
}

bool PeriodicWorker::Stop(absl::Duration patience) {
  {
    const MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
  }
  return thread_.Join(patience);
}

}  // namespace rapideye

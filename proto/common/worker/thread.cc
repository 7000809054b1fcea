#include "proto/common/worker/thread.h"

namespace rapideye {

Thread::Thread(std::function<void()> run)
    : thread_([state = state_, run = std::move(run)]() mutable {
        run();
        run = nullptr;  // destroys what it holds before the end is reported
        const MutexLock lock(state->mutex);
        state->ended = true;
        state->changed.NotifyAll();
      }) {}

Thread::~Thread() { Join(); }

bool Thread::Join(absl::Duration patience) {
  if (!thread_.joinable()) return true;
  const absl::Duration deadline = MonotonicTime() + patience;
  bool ended = false;
  {
    const MutexLock lock(state_->mutex);
    while (!state_->ended && state_->changed.WaitUntil(state_->mutex, deadline)) {
    }
    ended = state_->ended;
  }
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
  return ended;
}

}  // namespace rapideye

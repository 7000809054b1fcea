#include "proto/common/worker/worker.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/thread.h"

namespace rapideye {

struct Worker::State {
  struct Waiting {
    Job job;
    std::optional<int> kind;  // of PostLatest
  };

  Mutex mutex;
  ConditionVariable changed;
  std::deque<Waiting> waiting ABSL_GUARDED_BY(mutex);
  std::optional<absl::Duration> busy_since ABSL_GUARDED_BY(mutex);
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::unique_ptr<Thread> thread ABSL_GUARDED_BY(mutex);

  // Wakes the thread, or starts it, once a job waits.
  static void Begin(const std::shared_ptr<State>& state)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mutex) {
    state->changed.NotifyAll();
    if (state->thread != nullptr) return;
    state->thread = std::make_unique<Thread>([state] { Run(state); });
  }

  static void Run(const std::shared_ptr<State>& state) {
    while (Job job = state->Next()) {
      job();
      job = nullptr;
      const MutexLock lock(state->mutex);
      state->busy_since.reset();
    }
  }

  // Empty: it is to stop.
  Job Next() {
    const MutexLock lock(mutex);
    while (waiting.empty() && !stopping) changed.Wait(mutex);
    if (waiting.empty()) return nullptr;
    Job job = std::move(waiting.front().job);
    waiting.pop_front();
    busy_since = MonotonicTime();
    return job;
  }
};

Worker::Worker(size_t limit) : limit_(limit), state_(std::make_shared<State>()) {}

Worker::~Worker() {
  Drop();
  Stop();
}

bool Worker::Post(Job job) {
  const MutexLock lock(state_->mutex);
  if (state_->stopping || state_->waiting.size() >= limit_) return false;
  state_->waiting.push_back({std::move(job), std::nullopt});
  State::Begin(state_);
  return true;
}

bool Worker::PostLatest(Job job, int kind) {
  Job replaced;  // goes after the lock
  const MutexLock lock(state_->mutex);
  if (state_->stopping) return false;
  for (State::Waiting& waiting : state_->waiting) {
    if (waiting.kind != kind) continue;
    replaced = std::exchange(waiting.job, std::move(job));
    return true;
  }
  state_->waiting.push_back({std::move(job), kind});
  State::Begin(state_);
  return true;
}

void Worker::Drop() {
  std::deque<State::Waiting> dropped;  // goes after the lock
  const MutexLock lock(state_->mutex);
  state_->stopping = true;
  dropped.swap(state_->waiting);
  state_->changed.NotifyAll();
}

bool Worker::Stop(absl::Duration patience) {
  std::unique_ptr<Thread> thread;
  {
    const MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
    thread = std::move(state_->thread);
  }
  return thread == nullptr || thread->Join(patience);
}

bool Worker::Abandon(absl::Duration patience) {
  Drop();
  {
    const MutexLock lock(state_->mutex);
    if (state_->busy_since.has_value()) patience -= MonotonicTime() - *state_->busy_since;
  }
  return Stop(patience);
}

}  // namespace rapideye

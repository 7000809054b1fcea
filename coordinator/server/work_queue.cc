#include "coordinator/server/work_queue.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

struct WorkQueue::State {
  explicit State(size_t most) : limit(most) {}
  const size_t limit;
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  std::optional<std::chrono::steady_clock::time_point> busy_since;
  bool stopping = false;
  bool stopped = false;

  void Run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !waiting.empty(); });
      if (stopping) break;
      std::function<void()> work = std::move(waiting.front());
      waiting.pop_front();
      busy_since = std::chrono::steady_clock::now();
      lock.unlock();
      work();
      work = nullptr;  // what it holds goes without the lock
      lock.lock();
      busy_since.reset();
    }
    stopped = true;
    changed.notify_all();
  }
};

WorkQueue::WorkQueue(size_t limit)
    : state_(std::make_shared<State>(limit)), thread_([state = state_] { state->Run(); }) {}

WorkQueue::~WorkQueue() {
  Stop();
  std::unique_lock lock(state_->mutex);
  // Work that has hung for long is not waited for again: the program has to end.
  const auto begin = state_->busy_since.value_or(std::chrono::steady_clock::now());
  const bool stopped = state_->changed.wait_until(
      lock, begin + absl::ToChronoNanoseconds(kDiskPatience), [this] { return state_->stopped; });
  lock.unlock();
  if (stopped) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

bool WorkQueue::Post(std::function<void()> work) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stopping || state_->waiting.size() >= state_->limit) return false;
  state_->waiting.push_back(std::move(work));
  state_->changed.notify_all();
  return true;
}

void WorkQueue::Stop() {
  std::deque<std::function<void()>> dropped;
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  dropped.swap(state_->waiting);
  state_->changed.notify_all();
}

}  // namespace rapideye::coordinator

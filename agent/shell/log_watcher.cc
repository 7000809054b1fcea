#include "agent/shell/log_watcher.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "agent/limits.h"

namespace rapideye::agent {

struct LogWatcher::Shared {
  Shared(LogOptions options, Sink to) : follower(std::move(options)), sink(std::move(to)) {}

  void Run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      lock.unlock();
      LogReading reading =
          follower.Read(absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()));
      lock.lock();
      looked = true;
      changed.notify_all();
      if (stopping) return;
      if (!reading.lines.empty() || !reading.notes.empty()) sink(LogsRead{std::move(reading)});
      changed.wait_for(lock, absl::ToChronoMilliseconds(kLogPoll), [this] { return stopping; });
    }
  }

  LogFollower follower;  // the thread's alone
  std::mutex mutex;
  std::condition_variable changed;
  const Sink sink;        // called under mutex
  bool looked = false;    // guarded by mutex
  bool stopping = false;  // guarded by mutex
};

LogWatcher::LogWatcher(LogOptions options, Sink sink) {
  if (options.patterns.empty()) return;
  shared_ = std::make_shared<Shared>(std::move(options), std::move(sink));
  std::thread([shared = shared_] { shared->Run(); }).detach();
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, absl::ToChronoMilliseconds(kFirstLogLook),
                            [this] { return shared_->looked; });
}

LogWatcher::~LogWatcher() {
  if (shared_ == nullptr) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

}  // namespace rapideye::agent

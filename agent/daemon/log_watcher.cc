#include "agent/daemon/log_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "agent/sources/log/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/worker/closable_sink.h"

namespace rapideye::agent {

struct LogWatcher::Shared {
  Shared(LogOptions options, Sink to)
      : wake(options.wake), follower(std::move(options)), sink(std::move(to)) {}
  ~Shared() { close(stop); }

  void Run() {
    Look();
    looked.set_value();
    while (Pause()) Look();
  }

  void Look() {
    looked_at = MonotonicTime();
    if (std::optional<logs::SignatureTable> table = TakeNew()) follower.Use(*std::move(table));
    logs::LogReading reading = follower.Read(looked_at);
    const bool news = !reading.lines.empty() || !reading.notes.empty() ||
                      reading.steps.has_value() || !reading.stacks.empty();
    if (news) sink.Send(LogsRead{std::move(reading)});
  }

  std::optional<logs::SignatureTable> TakeNew() {
    const std::lock_guard lock(mutex);
    return std::exchange(signatures, std::nullopt);
  }

  // Waits until the next look is due or there is news. False: the watcher is to stop.
  bool Pause() const {
    // A descriptor of -1 is passed over.
    std::array<pollfd, 3> waiting = {
        {{stop, POLLIN, 0}, {wake, POLLIN, 0}, {follower.changes(), POLLIN, 0}}};
    Wait(waiting, follower.Patience());
    // A file that grows all the time is not looked at all the time.
    const absl::Duration early = looked_at + kLogPoll - MonotonicTime();
    if (waiting[2].revents != 0 && early > absl::ZeroDuration()) {
      waiting[2].fd = -1;
      Wait(waiting, early);
    }
    eventfd_t count = 0;
    if (waiting[1].revents != 0) eventfd_read(wake, &count);
    return waiting[0].revents == 0;
  }

  static void Wait(std::array<pollfd, 3>& waiting, absl::Duration patience) {
    poll(waiting.data(), waiting.size(), static_cast<int>(absl::ToInt64Milliseconds(patience)));
  }

  const int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int wake;
  LogFollower follower;  // the thread's alone, as is the next member
  absl::Duration looked_at;
  ClosableSink<LogsRead> sink;
  std::promise<void> looked;  // for the first time
  std::mutex mutex;
  std::optional<logs::SignatureTable> signatures;  // new ones; guarded by the mutex
};

LogWatcher::LogWatcher(LogOptions options, Sink sink) {
  if (options.patterns.empty() && options.outputs.empty()) return;
  shared_ = std::make_shared<Shared>(std::move(options), std::move(sink));
  const std::future<void> looked = shared_->looked.get_future();
  thread_ = std::make_unique<Thread>([shared = shared_] { shared->Run(); });
  looked.wait_for(absl::ToChronoMilliseconds(kFirstLogLook));
}

void LogWatcher::Use(logs::SignatureTable signatures) {
  if (shared_ == nullptr) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->signatures = std::move(signatures);
}

LogWatcher::~LogWatcher() {
  if (shared_ == nullptr) return;
  shared_->sink.Close();
  eventfd_write(shared_->stop, 1);
  thread_->Join(absl::ZeroDuration());
}

}  // namespace rapideye::agent

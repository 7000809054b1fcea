#include "agent/daemon/host_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

namespace rapideye::agent {

HostWatcher::HostWatcher(const HostOptions& options, Sink sink)
    : sources_(options),
      sink_(std::move(sink)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {}

HostWatcher::~HostWatcher() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  WakeUp();
  thread_.Join();
  close(wake_);
}

void HostWatcher::Start(const Poll& poll) {
  {
    const MutexLock lock(mutex_);
    next_ = poll;
  }
  WakeUp();
}

void HostWatcher::WakeUp() const { eventfd_write(wake_, 1); }

void HostWatcher::Run() {
  while (const std::optional<Poll> poll = Await()) {
    sink_(HostSampled{poll->poll, sources_.Read(poll->look)});
  }
}

std::optional<Poll> HostWatcher::Await() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (stopping_) return std::nullopt;
      if (next_.has_value()) return std::exchange(next_, std::nullopt);
    }
    // A descriptor of -1 is passed over.
    std::array<pollfd, 2> waiting = {{{wake_, POLLIN, 0}, {sources_.exit_descriptor(), POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), /*timeout=*/-1);
    if (waiting[0].revents != 0) {
      eventfd_t count = 0;
      eventfd_read(wake_, &count);
    } else if (waiting[1].revents != 0) {
      return Poll{};
    }
  }
}

}  // namespace rapideye::agent

#include "agent/shell/host_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "agent/limits.h"
#include "agent/sources/address/address.h"
#include "agent/sources/tcp/fetch.h"

namespace rapideye::agent {

HostSources::HostSources(const HostOptions& options) : peers_(options.peers), self_(options.self) {
  if (const std::optional<Endpoint> runtime = ParseEndpoint(options.runtime)) {
    process_.emplace(options.proc_root, *runtime);
  }
}

HostReading HostSources::Read(bool with_sockets) {
  const absl::Duration now = absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  HostReading reading;
  if (!process_.has_value()) return reading;
  reading.process = process_->Read(now);
  if (!with_sockets || !peers_.any()) return reading;
  if (const std::optional<std::set<uint64_t>> inodes = process_->SocketInodes()) {
    reading.sockets = ReadSockets(*inodes);
  }
  return reading;
}

SocketReading HostSources::ReadSockets(const std::set<uint64_t>& inodes) const {
  const absl::StatusOr<std::vector<TcpConnection>> connections =
      ListTcpConnections(kSocketDeadline);
  if (!connections.ok()) return {{}, std::string(connections.status().message())};
  return {SocketsToPeers(*connections, inodes, peers_, self_, ListNics()), ""};
}

int HostSources::exit_descriptor() const {
  return process_.has_value() ? process_->exit_descriptor() : -1;
}

HostWatcher::HostWatcher(const HostOptions& options, Sink sink)
    : sources_(options),
      sink_(std::move(sink)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {}

HostWatcher::~HostWatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  WakeUp();
  thread_.join();
  close(wake_);
}

void HostWatcher::Start(const Poll& poll) {
  {
    const std::lock_guard lock(mutex_);
    next_ = poll;
  }
  WakeUp();
}

void HostWatcher::WakeUp() const { eventfd_write(wake_, 1); }

void HostWatcher::Run() {
  while (const std::optional<Poll> poll = Await()) {
    sink_(HostSampled{poll->poll, sources_.Read(poll->with_sockets)});
  }
}

std::optional<Poll> HostWatcher::Await() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
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

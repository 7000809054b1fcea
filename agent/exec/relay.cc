#include "agent/exec/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rapideye::agent {
namespace {

// Waits if another process has made this end non-blocking. True: try again.
bool AwaitAfter(int error, int descriptor, short events) {
  if (error == EINTR) return true;
  if (error != EAGAIN) return false;
  pollfd waiting = {descriptor, events, 0};
  poll(&waiting, 1, /*timeout=*/-1);
  return true;
}

// False: the output cannot be written.
bool PassOn(int to, OutputRing& ring) {
  for (absl::string_view rest = ring.Unwritten(); !rest.empty(); rest = ring.Unwritten()) {
    const ssize_t n = write(to, rest.data(), rest.size());
    if (n >= 0) {
      ring.Wrote(static_cast<size_t>(n));
    } else if (!AwaitAfter(errno, to, POLLOUT)) {
      return false;
    }
  }
  return true;
}

// Runs until the pipe ends, or the output cannot be written.
void CopyAll(int from, int to, OutputRing& ring, int wake, std::atomic<bool>& awaits_more) {
  while (PassOn(to, ring)) {
    awaits_more = true;
    pollfd more = {from, POLLIN, 0};
    poll(&more, 1, /*timeout=*/-1);
    awaits_more = false;
    const absl::Span<char> space = ring.Space();
    const ssize_t n = read(from, space.data(), space.size());
    if (n > 0) {
      if (ring.Took(static_cast<size_t>(n))) eventfd_write(wake, 1);
    } else if (n == 0 || !AwaitAfter(errno, from, POLLIN)) {
      eventfd_write(wake, 1);  // last words should not wait
      return;
    }
  }
}

void Continue(int process, int from, int to, const RelayedOutput& output) {
  std::array<pollfd, 2> ends = {pollfd{output.over, POLLIN, 0}, pollfd{process, POLLIN, 0}};
  while (poll(ends.data(), ends.size(), /*timeout=*/-1) < 0 && errno == EINTR) continue;
  std::atomic<bool> awaits_more = false;
  if (ends[0].revents == 0) CopyAll(from, to, *output.ring, output.wake, awaits_more);
}

}  // namespace

void InheritRelay(int process, const RelayedOutput& output) {
  // It was over before the fork: then its descriptor may be another file by now.
  if (!output.is_over) Continue(process, output.from, output.to, output);
}

Relay::Relay(std::shared_ptr<RelayedOutput> output) : output_(std::move(output)) {
  worker_.Post([relayed = output_] {
    prctl(PR_SET_NAME, "relay");
    CopyAll(relayed->from, relayed->to, *relayed->ring, relayed->wake, relayed->awaits_more);
    // Set before the close, which frees the number for another file: no heir may copy that.
    relayed->is_over = true;
    close(relayed->from);
    eventfd_write(relayed->over, 1);
  });
}

Relay::~Relay() { worker_.Abandon(absl::ZeroDuration()); }

RelayHeir::RelayHeir(int process, const std::vector<const RelayedOutput*>& outputs) {
  for (const RelayedOutput* output : outputs) {
    // The relays of the other process close their own descriptors when they are done.
    const int from = fcntl(output->from, F_DUPFD_CLOEXEC, 0);
    const int to = fcntl(output->to, F_DUPFD_CLOEXEC, 0);
    if (output->is_over || from < 0 || to < 0) {
      close(from);
      close(to);
      continue;
    }
    workers_.push_back(std::make_unique<Worker>());
    try {
      workers_.back()->Post([process, from, to, output] {
        Continue(process, from, to, *output);
        close(from);
        close(to);
      });
    } catch (const std::system_error&) {
      // A destructor would wait for those that have begun, until the other process ends.
      for (const auto& worker : workers_) worker->Abandon(absl::ZeroDuration());
      throw;
    }
  }
}

RelayHeir::~RelayHeir() {
  for (const auto& worker : workers_) worker->Abandon(absl::ZeroDuration());
}

void RelayHeir::Wait() {
  for (const auto& worker : workers_) worker->Stop();
}

}  // namespace rapideye::agent

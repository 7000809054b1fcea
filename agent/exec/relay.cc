#include "agent/exec/relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rapideye::agent {
namespace {

// Another process with this end open may have made it non-blocking. True: try again.
bool AwaitAfter(int error, int descriptor, short events) {
  if (error == EINTR) return true;
  if (error != EAGAIN) return false;
  pollfd waiting = {descriptor, events, 0};
  poll(&waiting, 1, /*timeout=*/-1);
  return true;
}

// False: it cannot be written.
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

}  // namespace

RelayEnd Relay(int from, int to, OutputRing& ring, int wake) {
  while (PassOn(to, ring)) {
    const absl::Span<char> space = ring.Space();
    const ssize_t n = read(from, space.data(), space.size());
    if (n > 0) {
      if (ring.Took(static_cast<size_t>(n))) eventfd_write(wake, 1);
    } else if (n == 0 || !AwaitAfter(errno, from, POLLIN)) {
      eventfd_write(wake, 1);  // last words should not wait
      return RelayEnd::kFinished;
    }
  }
  return RelayEnd::kNobodyReads;
}

}  // namespace rapideye::agent

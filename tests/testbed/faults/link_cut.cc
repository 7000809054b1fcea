// The connection to a peer delivers nothing more, in either direction once both
// ends have been cut, as if the cable between them had gone: no reset, no end.
#include <linux/filter.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

// Lets everything pass again.
void Mend(Worker& worker, WorkerId peer) {
  const int unused = 0;
  const int socket = worker.mesh().SocketOf(peer);
  if (setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) == 0) return;
  worker.options().announce(absl::StrCat("error SO_DETACH_FILTER: ", std::strerror(errno)));
}

// Drops whatever arrives at the socket, before TCP sees it: not even
// acknowledgements pass.
absl::Status DropAll(Worker& worker, WorkerId peer) {
  const int socket = worker.mesh().SocketOf(peer);
  if (socket < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer=", FormatWorker(peer), ": there is no connection to it"));
  }
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program = {.len = 1, .filter = &nothing};
  if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("SO_ATTACH_FILTER: ", std::strerror(errno)));
}

absl::Status ApplyLinkCut(const ControlLine& line, Worker& worker) {
  absl::StatusOr<std::string> text = StringArgument(line, "peer");
  if (!text.ok()) return text.status();
  std::vector<WorkerId> peers;
  if (*text == "all") {
    peers = Peers(worker.options().shape, worker.options().self);
  } else {
    absl::StatusOr<WorkerId> peer = ParseWorker(*text);
    if (!peer.ok()) return peer.status();
    peers = {*peer};
  }
  for (WorkerId peer : peers) {
    if (absl::Status s = DropAll(worker, peer); !s.ok()) return s;
    worker.recovery().OnHeal([&worker, peer] { Mend(worker, peer); });
  }
  worker.AnnounceEffect("link-cut", absl::StrCat("links=", peers.size()));
  return absl::OkStatus();
}

}  // namespace

const Fault kLinkCut = {
    "link-cut",
    "peer=S.T|all: nothing arrives any more from this peer, or from anybody; to be given to both "
    "ends",
    ApplyLinkCut};

}  // namespace rapideye::testbed

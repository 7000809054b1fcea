#include "agent/sources/tcp/fetch.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/nic/fetch.h"
#include "agent/sources/tcp/limits.h"

namespace rapideye::agent {
namespace {

using Clock = std::chrono::steady_clock;

absl::Status Unavailable(const char* what) {
  return absl::UnavailableError(
      absl::StrCat("connections cannot be listed: ", what, ": ", std::strerror(errno)));
}

absl::Status Ask(int netlink, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } message = {};
  message.header.nlmsg_len = sizeof(message);
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.request.sdiag_family = static_cast<uint8_t>(family);
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_ext = 1 << (INET_DIAG_INFO - 1);
  message.request.idiag_states = 1 << TCP_ESTABLISHED | 1 << TCP_SYN_SENT | 1 << TCP_CLOSE_WAIT;
  if (send(netlink, &message, sizeof(message), 0) < 0) return Unavailable("sock_diag");
  return absl::OkStatus();
}

absl::Status Listen(int netlink, Clock::time_point give_up,
                    std::vector<TcpConnection>& connections) {
  std::array<char, 64 * 1024> buffer;
  while (true) {
    const ssize_t n = recv(netlink, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Unavailable("sock_diag");
    const absl::StatusOr<bool> done =
        ParseSockDiag(absl::string_view(buffer.data(), static_cast<size_t>(n)), connections);
    if (!done.ok() || *done) return done.status();
    if (connections.size() > kMaxConnections || Clock::now() >= give_up) {
      return absl::UnavailableError("this host has too many connections to list them");
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<TcpConnection>> ListTcpConnections(absl::Duration deadline) {
  const auto give_up = Clock::now() + absl::ToChronoMilliseconds(deadline);
  std::vector<TcpConnection> connections;
  for (const int family : {AF_INET, AF_INET6}) {
    // One each: what an answer that was given up left behind is nobody's.
    const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return Unavailable("netlink");
    const timeval timeout = absl::ToTimeval(deadline);
    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    absl::Status status = Ask(netlink, family);
    if (status.ok()) status = Listen(netlink, give_up, connections);
    close(netlink);
    // A kernel without IPv6 still has the other.
    if (!status.ok() && family == AF_INET) return status;
  }
  return connections;
}

namespace {

class TcpFetcher final : public Fetcher<SocketReading> {
 public:
  explicit TcpFetcher(const HostOptions& options) : peers_(options.peers), self_(options.self) {}

  std::optional<SocketReading> Fetch(const HostLook& look, absl::Duration,
                                     HostFindings& found) override {
    if (!look.sockets || !found.socket_inodes) return std::nullopt;
    const std::optional<std::set<uint64_t>> inodes = found.socket_inodes();
    if (!inodes.has_value()) return std::nullopt;
    const absl::StatusOr<std::vector<TcpConnection>> connections =
        ListTcpConnections(kSocketDeadline);
    if (!connections.ok())
      return SocketReading{{}, {}, std::string(connections.status().message())};
    return SocketsOf(*connections, *inodes, peers_, self_, ListNics());
  }

 private:
  const Peers peers_;
  const WorkerId self_;
};

}  // namespace

std::unique_ptr<Fetcher<SocketReading>> TcpSource::MakeFetcher(const HostOptions& options,
                                                               HostFindings&) {
  return std::make_unique<TcpFetcher>(options);
}

}  // namespace rapideye::agent

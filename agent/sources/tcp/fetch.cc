#include "agent/sources/tcp/fetch.h"

#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

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

using Netlink = std::unique_ptr<mnl_socket, int (*)(mnl_socket*)>;

constexpr uint32_t kConnections = 1 << TCP_ESTABLISHED | 1 << TCP_SYN_SENT | 1 << TCP_CLOSE_WAIT;
constexpr uint32_t kListeners = 1 << TCP_LISTEN;

absl::Status Ask(const mnl_socket* netlink, int family, uint32_t states) {
  alignas(nlmsghdr) std::array<char, 128> buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  auto* request =
      static_cast<inet_diag_req_v2*>(mnl_nlmsg_put_extra_header(message, sizeof(inet_diag_req_v2)));
  request->sdiag_family = static_cast<uint8_t>(family);
  request->sdiag_protocol = IPPROTO_TCP;
  request->idiag_ext = 1 << (INET_DIAG_INFO - 1);
  request->idiag_states = states;
  if (mnl_socket_sendto(netlink, message, message->nlmsg_len) < 0) return Unavailable("sock_diag");
  return absl::OkStatus();
}

absl::Status Listen(const mnl_socket* netlink, Clock::time_point give_up,
                    std::vector<TcpConnection>& connections) {
  alignas(nlmsghdr) std::array<char, 64 * 1024> buffer;
  while (true) {
    const ssize_t n = mnl_socket_recvfrom(netlink, buffer.data(), buffer.size());
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

absl::StatusOr<std::vector<TcpConnection>> List(uint32_t states, absl::Duration deadline) {
  const auto give_up = Clock::now() + absl::ToChronoMilliseconds(deadline);
  std::vector<TcpConnection> connections;
  for (const int family : {AF_INET, AF_INET6}) {
    // A socket each: the rest of an abandoned answer must not be read as the next one.
    const Netlink netlink(mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC), mnl_socket_close);
    if (netlink == nullptr) return Unavailable("netlink");
    const timeval timeout = absl::ToTimeval(deadline);
    setsockopt(mnl_socket_get_fd(netlink.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout,
               sizeof(timeout));
    absl::Status status = Ask(netlink.get(), family, states);
    if (status.ok()) status = Listen(netlink.get(), give_up, connections);
    // A kernel without IPv6 still has the other.
    if (!status.ok() && family == AF_INET) return status;
  }
  return connections;
}

}  // namespace

absl::StatusOr<std::vector<TcpConnection>> ListTcpConnections(absl::Duration deadline) {
  return List(kConnections, deadline);
}

absl::StatusOr<std::vector<TcpConnection>> ListTcpListeners(absl::Duration deadline) {
  return List(kListeners, deadline);
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
    SocketReading reading = SocketsOf(*connections, *inodes, peers_, self_, ListNics());
    reading.bytes_moved = traffic_.Add(*connections, *inodes);
    return reading;
  }

 private:
  const Peers peers_;
  const WorkerId self_;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Fetcher<SocketReading>> TcpSource::MakeFetcher(const HostOptions& options,
                                                               HostFindings&) {
  return std::make_unique<TcpFetcher>(options);
}

}  // namespace rapideye::agent

#include "agent/sources/tcp/parse.h"

#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
// The kernel's header: the tcp_info of netinet/tcp.h ends before the bytes.
#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/sources/tcp/limits.h"

namespace rapideye::agent {
namespace {

// States by the kernel's numbers (include/net/tcp_states.h).
enum KernelState : uint8_t { kEstablished = 1, kSynSent = 2, kCloseWait = 8 };

SocketState StateOf(uint8_t state) {
  switch (state) {
    case kEstablished:
      return SocketState::kEstablished;
    case kSynSent:
      return SocketState::kSynSent;
    case kCloseWait:
      return SocketState::kCloseWait;
    default:
      return SocketState::kUnspecified;
  }
}

IpAddress AddressOf(const uint32_t (&words)[4], uint8_t family) {
  std::array<uint8_t, 16> bytes;
  static_assert(sizeof(bytes) == sizeof(words));
  std::memcpy(bytes.data(), words, sizeof(words));
  if (family == AF_INET) return FromV4({bytes[0], bytes[1], bytes[2], bytes[3]});
  return IpAddress{bytes};
}

// Adds the fields of tcp_info; an older kernel's answer is shorter, and lacks the last fields.
void AddInfo(const nlattr* attribute, TcpConnection& connection) {
  tcp_info info = {};
  std::memcpy(&info, mnl_attr_get_payload(attribute),
              std::min<size_t>(mnl_attr_get_payload_len(attribute), sizeof(info)));
  connection.since_ack_ms = info.tcpi_last_ack_recv;
  connection.retransmits = info.tcpi_total_retrans;
  // A third of the range each, so that sums cannot overflow.
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() / 3;
  connection.bytes_moved =
      static_cast<int64_t>(std::min<uint64_t>(info.tcpi_bytes_acked, kMost) +
                           std::min<uint64_t>(info.tcpi_bytes_received, kMost));
}

std::optional<TcpConnection> ParseConnection(const nlmsghdr* message) {
  if (mnl_nlmsg_get_payload_len(message) < sizeof(inet_diag_msg)) return std::nullopt;
  const auto* body = static_cast<const inet_diag_msg*>(mnl_nlmsg_get_payload(message));
  const uint8_t family = body->idiag_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  TcpConnection connection;
  connection.state = StateOf(body->idiag_state);
  connection.local = AddressOf(body->id.idiag_src, family);
  std::array<uint8_t, sizeof(body->id.idiag_sport)> port;  // in network order
  std::memcpy(port.data(), &body->id.idiag_sport, port.size());
  connection.local_port = static_cast<uint16_t>(port[0] << 8 | port[1]);
  connection.remote = AddressOf(body->id.idiag_dst, family);
  connection.send_queue_bytes = body->idiag_wqueue;
  connection.inode = body->idiag_inode;
  // mnl's tail will not do: it may lie behind the last byte.
  const char* end = reinterpret_cast<const char*>(message) + message->nlmsg_len;
  const auto* attribute =
      static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(message, sizeof(inet_diag_msg)));
  const auto left = [&] {
    return static_cast<int>(end - reinterpret_cast<const char*>(attribute));
  };
  for (; mnl_attr_ok(attribute, left()); attribute = mnl_attr_next(attribute)) {
    if (mnl_attr_get_type(attribute) == INET_DIAG_INFO) AddInfo(attribute, connection);
  }
  // Refuses an attribute whose length is nonsense.
  if (left() >= static_cast<int>(sizeof(nlattr))) return std::nullopt;
  return connection;
}

// mnl_nlmsg_ok alone takes a length of 2 GiB and more for a negative one.
bool IsWhole(const nlmsghdr* message, int left) {
  return mnl_nlmsg_ok(message, left) && message->nlmsg_len <= static_cast<uint32_t>(left);
}

absl::Status Refusal(const nlmsghdr* message) {
  int error = 0;
  if (mnl_nlmsg_get_payload_len(message) >= sizeof(error)) {
    std::memcpy(&error, mnl_nlmsg_get_payload(message), sizeof(error));
  }
  return absl::UnavailableError(
      absl::StrCat("the kernel refuses to list connections (error ", -int64_t{error}, ")"));
}

// The fullest send queues first.
template <typename End>
auto Order(const Socket& socket, const End& end) {
  return std::tuple(-socket.unacked_bytes, end, socket.nic, -socket.since_ack_ms);
}

}  // namespace

absl::StatusOr<bool> ParseSockDiag(absl::string_view datagram,
                                   std::vector<TcpConnection>& connections) {
  int left = static_cast<int>(datagram.size());
  const auto* message = reinterpret_cast<const nlmsghdr*>(datagram.data());
  for (; IsWhole(message, left); message = mnl_nlmsg_next(message, &left)) {
    switch (message->nlmsg_type) {
      case NLMSG_DONE:
        return true;
      case NLMSG_ERROR:
        return Refusal(message);
      case SOCK_DIAG_BY_FAMILY: {
        const std::optional<TcpConnection> connection = ParseConnection(message);
        if (!connection.has_value()) return absl::DataLossError("sock_diag: not a connection");
        connections.push_back(*connection);
        break;
      }
      default:
        break;
    }
  }
  if (left > 0) return absl::DataLossError("sock_diag: a message is cut short");
  return false;
}

int64_t Traffic::Add(const std::vector<TcpConnection>& connections,
                     const std::set<uint64_t>& inodes) {
  std::map<uint64_t, int64_t> now;
  for (const TcpConnection& connection : connections) {
    if (inodes.contains(connection.inode)) now[connection.inode] += connection.bytes_moved;
  }
  if (!std::exchange(first_, false)) {
    for (const auto& [inode, moved] : now) {
      const auto before = moved_.find(inode);
      const int64_t base = before != moved_.end() && before->second <= moved ? before->second : 0;
      total_ += std::min(moved - base, std::numeric_limits<int64_t>::max() - total_);
    }
  }
  moved_ = std::move(now);
  return total_;
}

SocketReading SocketsOf(const std::vector<TcpConnection>& connections,
                        const std::set<uint64_t>& inodes, const Peers& peers, const WorkerId& self,
                        const std::map<IpAddress, std::string>& nics) {
  SocketReading reading;
  for (const TcpConnection& connection : connections) {
    if (!inodes.contains(connection.inode)) continue;
    Socket socket;
    const auto nic = nics.find(connection.local);
    if (nic != nics.end()) socket.nic = nic->second;
    socket.state = connection.state;
    socket.unacked_bytes = connection.send_queue_bytes;
    socket.since_ack_ms = connection.since_ack_ms;
    socket.retransmits = connection.retransmits;
    if (const std::optional<WorkerId> peer = peers.WorkerOfAddress(connection.remote)) {
      socket.peer = *peer;
      if (*peer != self) reading.sockets.push_back(std::move(socket));
    } else if (connection.remote.IsReachable() && !nics.contains(connection.remote)) {
      reading.strangers.push_back({connection.remote, std::move(socket)});
    }
  }
  std::sort(reading.sockets.begin(), reading.sockets.end(),
            [](const Socket& a, const Socket& b) { return Order(a, a.peer) < Order(b, b.peer); });
  std::sort(reading.strangers.begin(), reading.strangers.end(),
            [](const StrangerSocket& a, const StrangerSocket& b) {
              return Order(a.socket, a.address) < Order(b.socket, b.address);
            });
  if (reading.sockets.size() > kMaxSockets) reading.sockets.resize(kMaxSockets);
  if (reading.strangers.size() > kMaxSockets) reading.strangers.resize(kMaxSockets);
  return reading;
}

}  // namespace rapideye::agent

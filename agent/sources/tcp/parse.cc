#include "agent/sources/tcp/parse.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "agent/sources/tcp/limits.h"

namespace rapideye::agent {
namespace {

constexpr uint8_t kFamilyV4 = 2;
constexpr uint8_t kFamilyV6 = 10;

// Absent beyond the end.
template <typename T>
std::optional<T> NumberAt(absl::string_view bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

size_t Aligned(size_t length) { return (length + 3) & ~size_t{3}; }

SocketState StateOf(uint8_t state) {
  switch (state) {
    case 1:
      return SocketState::kEstablished;
    case 2:
      return SocketState::kSynSent;
    case 8:
      return SocketState::kCloseWait;
    default:
      return SocketState::kUnspecified;
  }
}

IpAddress AddressAt(absl::string_view message, size_t at, uint8_t family) {
  std::array<uint8_t, 16> bytes;
  std::memcpy(bytes.data(), message.data() + at, bytes.size());
  if (family == kFamilyV4) return FromV4({bytes[0], bytes[1], bytes[2], bytes[3]});
  return IpAddress{bytes};
}

// Takes one length-prefixed part off `bytes`; absent if the length is nonsense.
template <typename Length>
std::optional<absl::string_view> TakePart(absl::string_view& bytes, size_t least) {
  const std::optional<Length> length = NumberAt<Length>(bytes, 0);
  if (!length.has_value() || *length < least || *length > bytes.size()) return std::nullopt;
  const absl::string_view part = bytes.substr(0, *length);
  bytes.remove_prefix(std::min(bytes.size(), Aligned(*length)));
  return part;
}

std::optional<TcpConnection> ParseConnection(absl::string_view message) {
  using namespace sock_diag;  // NOLINT: offsets only
  if (message.size() < kMessageBytes) return std::nullopt;
  const auto family = static_cast<uint8_t>(message[0]);
  if (family != kFamilyV4 && family != kFamilyV6) return std::nullopt;
  TcpConnection connection;
  connection.state = StateOf(static_cast<uint8_t>(message[kState]));
  connection.local = AddressAt(message, kSource, family);
  connection.remote = AddressAt(message, kDestination, family);
  connection.send_queue_bytes = *NumberAt<uint32_t>(message, kSendQueue);
  connection.inode = *NumberAt<uint32_t>(message, kInode);
  absl::string_view attributes = message.substr(kMessageBytes);
  while (attributes.size() >= 4) {
    const auto attribute = TakePart<uint16_t>(attributes, 4);
    if (!attribute.has_value()) return std::nullopt;
    if (*NumberAt<uint16_t>(*attribute, 2) != kAttributeInfo) continue;
    // An older kernel's is shorter.
    const absl::string_view info = attribute->substr(4);
    connection.since_ack_ms = NumberAt<uint32_t>(info, kLastAck).value_or(0);
    connection.retransmits = NumberAt<uint32_t>(info, kTotalRetransmits).value_or(0);
  }
  return connection;
}

// The fullest send queues first.
template <typename End>
auto Order(const Socket& socket, const End& end) {
  return std::tuple(-socket.unacked_bytes, end, socket.nic, -socket.since_ack_ms);
}

}  // namespace

absl::StatusOr<bool> ParseSockDiag(absl::string_view datagram,
                                   std::vector<TcpConnection>& connections) {
  while (!datagram.empty()) {
    const auto message = TakePart<uint32_t>(datagram, sock_diag::kHeaderBytes);
    if (!message.has_value()) return absl::DataLossError("sock_diag: a message is cut short");
    const absl::string_view body = message->substr(sock_diag::kHeaderBytes);
    switch (*NumberAt<uint16_t>(*message, sock_diag::kHeaderType)) {
      case sock_diag::kTypeDone:
        return true;
      case sock_diag::kTypeError:
        return absl::UnavailableError(absl::StrCat("the kernel refuses to list connections (error ",
                                                   -NumberAt<int32_t>(body, 0).value_or(0), ")"));
      case sock_diag::kTypeByFamily: {
        const std::optional<TcpConnection> connection = ParseConnection(body);
        if (!connection.has_value()) return absl::DataLossError("sock_diag: not a connection");
        connections.push_back(*connection);
        break;
      }
      default:
        break;
    }
  }
  return false;
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

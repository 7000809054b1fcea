#include "tests/testbed/worker/mesh.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

namespace rapideye::testbed {
namespace {

constexpr int kBacklog = 128;  // more than a worker has peers
constexpr size_t kReadBytes = 64 * 1024;

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// The first bytes of a connection: who calls.
struct Greeting {
  int32_t slice;
  int32_t task;
};

absl::StatusOr<sockaddr_in> ParseAddress(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  int port = 0;
  if (parts.size() != 2 || inet_pton(AF_INET, parts[0].c_str(), &address.sin_addr) != 1 ||
      !absl::SimpleAtoi(parts[1], &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no ADDRESS:PORT"));
  }
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// A socket bound to this address and a free port, or -1.
int BoundSocket(const std::string& own) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const absl::StatusOr<sockaddr_in> address = ParseAddress(absl::StrCat(own, ":0"));
  if (!address.ok()) {
    close(fd);
    errno = EINVAL;
    return -1;
  }
  if (bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Mesh>> Mesh::Listen(WorkerId self, const std::string& address,
                                                   Deliver deliver) {
  std::unique_ptr<Mesh> mesh(new Mesh(self, address, std::move(deliver)));
  mesh->listener_ = BoundSocket(address);
  if (mesh->listener_ < 0) return SystemError(absl::StrCat("bind ", address));
  if (listen(mesh->listener_, kBacklog) != 0) return SystemError("listen");
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  getsockname(mesh->listener_, reinterpret_cast<sockaddr*>(&bound), &length);
  mesh->address_ = absl::StrCat(address, ":", ntohs(bound.sin_port));
  return mesh;
}

Mesh::~Mesh() {
  for (auto& [peer, connection] : connections_) shutdown(connection->socket, SHUT_RDWR);
  for (auto& [peer, connection] : connections_) {
    connection->reader.join();
    close(connection->socket);
  }
  if (listener_ >= 0) close(listener_);
}

absl::Status Mesh::Connect(const std::vector<WorkerId>& peers, const MeshAddresses& addresses,
                           absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  for (WorkerId peer : peers) {
    const auto address = addresses.find(peer);
    if (address == addresses.end()) {
      return absl::NotFoundError(absl::StrCat("no address given for worker ", FormatWorker(peer)));
    }
    if (peer > self_) continue;  // that one calls us
    if (absl::Status s = Dial(peer, address->second); !s.ok()) return s;
  }
  while (connections_.size() < peers.size()) {
    if (absl::Status s = Accept(deadline); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Mesh::Dial(WorkerId peer, const std::string& address) {
  absl::StatusOr<sockaddr_in> to = ParseAddress(address);
  if (!to.ok()) return to.status();
  const int fd = BoundSocket(own_);
  if (fd < 0) return SystemError("bind");
  const Greeting greeting{self_.slice, self_.task};
  // The listener's backlog answers, so neither of these blocks for long.
  if (connect(fd, reinterpret_cast<const sockaddr*>(&*to), sizeof *to) != 0 ||
      send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting) {
    absl::Status error = SystemError(absl::StrCat("connect ", address));
    close(fd);
    return error;
  }
  Add(peer, fd);
  return absl::OkStatus();
}

absl::Status Mesh::Accept(absl::Time deadline) {
  pollfd wait{listener_, POLLIN, 0};
  const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
  if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) <= 0) {
    return absl::DeadlineExceededError("not every peer has connected in time");
  }
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return SystemError("accept");
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Greeting greeting{};
  if (recv(fd, &greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting) {
    close(fd);
    return absl::OkStatus();  // whoever it was, it was no peer
  }
  Add({greeting.slice, greeting.task}, fd);
  return absl::OkStatus();
}

void Mesh::Add(WorkerId peer, int socket) {
  auto connection = std::make_unique<Connection>();
  connection->socket = socket;
  connection->reader = std::thread([this, peer, socket] { Read(peer, socket); });
  connections_[peer] = std::move(connection);
}

void Mesh::Read(WorkerId peer, int socket) {
  std::string pending;
  std::string chunk(kReadBytes, '\0');
  while (true) {
    const ssize_t got = recv(socket, chunk.data(), chunk.size(), 0);
    if (got <= 0) break;
    pending.append(chunk, 0, static_cast<size_t>(got));
    absl::string_view bytes = pending;
    while (true) {
      absl::StatusOr<std::optional<MeshMessage>> message = Decode(bytes);
      if (!message.ok()) {
        spdlog::error("connection to {}: {}", FormatWorker(peer), message.status().ToString());
        return;
      }
      if (!message->has_value()) break;
      deliver_(*std::move(*message));
    }
    pending.erase(0, pending.size() - bytes.size());
  }
  spdlog::info("connection to {} has ended", FormatWorker(peer));
}

void Mesh::Send(WorkerId to, const MeshMessage& message) {
  const auto found = connections_.find(to);
  if (found == connections_.end()) return;
  std::string bytes;
  Encode(message, bytes);
  const std::lock_guard lock(found->second->writing);
  absl::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = send(found->second->socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    rest.remove_prefix(static_cast<size_t>(sent));
  }
}

int Mesh::SocketOf(WorkerId peer) const {
  const auto found = connections_.find(peer);
  return found == connections_.end() ? -1 : found->second->socket;
}

}  // namespace rapideye::testbed

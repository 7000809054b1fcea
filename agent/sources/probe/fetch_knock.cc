#include "agent/sources/probe/fetch_knock.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "agent/sources/probe/limits.h"

namespace rapideye::agent {
namespace {

constexpr size_t kSmallBytes = 8;
// The largest that a datagram can be.
constexpr int kLargestPacket = 65'535;

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress ToSocketAddress(const IpAddress& address, uint16_t port) {
  SocketAddress result;
  if (address.IsV4()) {
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data() + 12, 4);
    std::memcpy(&result.storage, &v4, sizeof(v4));
    result.size = sizeof(v4);
  } else {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), address.bytes.size());
    std::memcpy(&result.storage, &v6, sizeof(v6));
    result.size = sizeof(v6);
  }
  return result;
}

// An error of this host, not of the way to the peer.
absl::Status Ours(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

bool SaysTheWayIsCut(int error) {
  return error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN || error == EHOSTDOWN ||
         error == EADDRNOTAVAIL || error == ETIMEDOUT;
}

int ErrorOf(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// Bytes of the headers of IP and UDP.
int HeaderBytes(bool v4) { return v4 ? 20 + 8 : 40 + 8; }

// Payload of a datagram of full size on this connected socket; 0: none.
int FullSize(int socket, bool v4) {
  int mtu = 0;
  socklen_t size = sizeof(mtu);
  if (getsockopt(socket, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &size) !=
      0) {
    return 0;
  }
  return std::max(0, std::min(mtu, kLargestPacket) - HeaderBytes(v4));
}

bool SendDatagram(int socket, const std::string& payload) {
  return send(socket, payload.data(), payload.size(), MSG_NOSIGNAL) >= 0;
}

void CloseSocket(int& socket) {
  if (socket >= 0) close(socket);
  socket = -1;
}

}  // namespace

Knock::~Knock() {
  for (Syn& syn : syns_) CloseSocket(syn.socket);
  CloseSocket(small_);
  CloseSocket(full_);
}

absl::Status Knock::BindToNic(int socket) const {
  if (!target_.nic.has_value()) return absl::OkStatus();
  const std::string& nic = *target_.nic;
  if (setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, nic.c_str(),
                 static_cast<socklen_t>(nic.size())) == 0) {
    return absl::OkStatus();
  }
  if (errno != EPERM) return Ours(absl::StrCat("NIC ", nic));
  // Kernels before 5.7 allow this to privileged processes alone. Binding to an address of
  // the NIC chooses the NIC where routes depend on the source.
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Ours("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  const int family = target_.address.IsV4() ? AF_INET : AF_INET6;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family ||
        nic != entry->ifa_name) {
      continue;
    }
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (bind(socket, entry->ifa_addr, size) == 0) return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("NIC ", nic, ": it has no address to probe from"));
}

absl::StatusOr<int> Knock::Open(int type) const {
  const int family = target_.address.IsV4() ? AF_INET : AF_INET6;
  int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Ours("socket");
  if (absl::Status status = BindToNic(fd); !status.ok()) {
    CloseSocket(fd);
    return status;
  }
  return fd;
}

absl::Status Knock::Try(absl::Duration now) {
  begun_ = std::min(begun_, now);
  if (!echoes_.answer.has_value()) {
    if (absl::Status status = SendSyn(now); !status.ok()) return status;
  }
  return SendDatagrams();
}

absl::Status Knock::SendSyn(absl::Duration now) {
  const absl::StatusOr<int> fd = Open(SOCK_STREAM);
  if (!fd.ok()) return fd.status();
  // Resets an accepted connection at once: no data follows.
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(*fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  syns_.push_back({*fd, now});
  const SocketAddress to = ToSocketAddress(target_.address, port_);
  if (connect(*fd, to.get(), to.size) == 0) {
    EndSyn(syns_.back(), 0, now);
  } else if (errno != EINPROGRESS) {
    const int error = errno;
    EndSyn(syns_.back(), error, now);
    if (error != ECONNREFUSED && !SaysTheWayIsCut(error)) {
      errno = error;
      return Ours("connect");
    }
  }
  return absl::OkStatus();
}

void Knock::EndSyn(Syn& syn, int error, absl::Duration now) {
  CloseSocket(syn.socket);
  if (error == 0 || error == ECONNREFUSED || error == ECONNRESET) {
    if (!echoes_.answer.has_value()) echoes_.answer = now - syn.sent;
  } else {
    echoes_.error = error;
  }
}

// The full-size datagram goes first: hosts bound how many datagrams they answer, and if one
// answer is missing, it had better be that to the small datagram, which then proves nothing.
absl::Status Knock::SendDatagrams() {
  const SocketAddress to = ToSocketAddress(target_.address, port_);
  for (int* fd : {&full_, &small_}) {
    if (*fd >= 0) continue;
    const absl::StatusOr<int> opened = Open(SOCK_DGRAM);
    if (!opened.ok()) return opened.status();
    *fd = *opened;
    // The datagram must not be fragmented, nor held back by the kernel's idea of the way.
    const bool v4 = target_.address.IsV4();
    const int probe = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
    setsockopt(*fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER,
               &probe, sizeof(probe));
    // If there is no way at all, the SYN has reported that already.
    if (connect(*fd, to.get(), to.size) != 0) CloseSocket(*fd);
  }
  if (full_ < 0 || small_ < 0) return absl::OkStatus();
  if (!echoes_.full_answered) {
    const int packet = FullSize(full_, target_.address.IsV4());
    const std::string payload(static_cast<size_t>(packet), '\0');
    if (packet > 0 && !SendDatagram(full_, payload)) HearDatagram(full_, errno);
    if (packet > 0) echoes_.full_bytes = packet + HeaderBytes(target_.address.IsV4());
  }
  if (!echoes_.small_answered && !SendDatagram(small_, std::string(kSmallBytes, '\0'))) {
    HearDatagram(small_, errno);
  }
  return absl::OkStatus();
}

void Knock::AwaitedBy(std::vector<pollfd>& waiting) const {
  if (!echoes_.answer.has_value()) {
    for (const Syn& syn : syns_) {
      if (syn.socket >= 0) waiting.push_back({syn.socket, POLLOUT, 0});
    }
  }
  if (small_ >= 0 && !echoes_.small_answered) waiting.push_back({small_, POLLIN, 0});
  if (full_ >= 0 && !echoes_.full_answered) waiting.push_back({full_, POLLIN, 0});
}

void Knock::Hear(int descriptor, absl::Duration now) {
  for (Syn& syn : syns_) {
    if (syn.socket == descriptor) {
      EndSyn(syn, ErrorOf(descriptor), now);
      return;
    }
  }
  if (descriptor != small_ && descriptor != full_) return;
  std::array<char, 1> answer;
  const bool data = recv(descriptor, answer.data(), answer.size(), 0) >= 0;
  HearDatagram(descriptor, data ? 0 : errno);
}

// A refusal (ICMP) is an answer, as is a reply of the server on that port. A router that
// states its largest packet keeps large packets from vanishing.
void Knock::HearDatagram(int descriptor, int error) {
  if (descriptor == small_) {
    echoes_.small_answered = echoes_.small_answered || error == 0 || error == ECONNREFUSED;
  } else {
    echoes_.full_answered =
        echoes_.full_answered || error == 0 || error == ECONNREFUSED || error == EMSGSIZE;
  }
}

bool Knock::Settled(absl::Duration now) const {
  if (!echoes_.answer.has_value()) return false;
  return echoes_.full_answered || (!echoes_.small_answered && now - begun_ >= kDatagramPatience);
}

}  // namespace rapideye::agent

#include "proto/common/http/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rapideye::http {
namespace {

// Connections that wait to be accepted.
constexpr int kBacklog = 64;

absl::Status Unavailable(const std::string& address, int error) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", std::generic_category().message(error)));
}

uint16_t PortOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

absl::StatusOr<ListeningSocket> Listen(const std::string& address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, " is not ADDRESS:PORT with a port from 0 to 65535"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        address, " is not ADDRESS:PORT; an IPv6 address stands in brackets, [::1]:9490"));
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(address, ": ", gai_strerror(error)));
  }
  const absl::Cleanup release = [found] { freeaddrinfo(found); };

  const int descriptor =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
  if (descriptor < 0) return Unavailable(address, errno);
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(descriptor, kBacklog) != 0) {
    const int reason = errno;
    close(descriptor);
    return Unavailable(address, reason);
  }
  return ListeningSocket{descriptor,
                         absl::StrCat(address.substr(0, colon), ":", PortOf(descriptor))};
}

}  // namespace rapideye::http

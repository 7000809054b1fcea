// Listen opens a TCP socket that listens.
#ifndef RAPIDEYE_PROTO_COMMON_HTTP_LISTENING_SOCKET_H_
#define RAPIDEYE_PROTO_COMMON_HTTP_LISTENING_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"

namespace rapideye::http {

struct ListeningSocket {
  int descriptor = -1;  // the caller's to close
  std::string address;  // HOST:PORT with the real port
};

// `address`: HOST:PORT; [::1]:PORT for IPv6; port 0 takes a free one.
// INVALID_ARGUMENT if it is no such thing or the host has no address; UNAVAILABLE
// if it cannot be had, with the reason.
absl::StatusOr<ListeningSocket> Listen(const std::string& address);

}  // namespace rapideye::http

#endif  // RAPIDEYE_PROTO_COMMON_HTTP_LISTENING_SOCKET_H_

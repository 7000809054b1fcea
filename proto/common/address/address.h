// IpAddress and Endpoint hold network addresses as values.
#ifndef RAPIDEYE_PROTO_COMMON_ADDRESS_ADDRESS_H_
#define RAPIDEYE_PROTO_COMMON_ADDRESS_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace rapideye {

// An IPv6 address in network order. IPv4 ones are mapped (::ffff:a.b.c.d), which
// is also how the kernel shows them on a socket that takes both.
struct IpAddress {
  std::array<uint8_t, 16> bytes = {};

  bool IsV4() const;
  bool IsUnspecified() const;  // 0.0.0.0 or ::
  bool IsLoopback() const;
  // True if other hosts can reach a host by it: it is not unspecified, loopback, of one link
  // only (cloud metadata services are among these), multicast or broadcast.
  bool IsReachable() const;

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const IpAddress& address) {
    return H::combine(std::move(hash), address.bytes);
  }
};

IpAddress FromV4(std::array<uint8_t, 4> bytes);

// "10.0.0.1", "fe80::1", "::ffff:10.0.0.1"; no brackets, port or scope. Absent
// if the text is not an address.
std::optional<IpAddress> ParseIpAddress(absl::string_view text);

// The shortest usual form of an IPv4 address; an IPv6 one in full groups.
std::string ToString(const IpAddress& address);

// 4 bytes of an IPv4 address, 16 of an IPv6 one, in network order; mapped ones are
// taken, and written as 4.
std::optional<IpAddress> FromBytes(absl::string_view bytes);
std::string ToBytes(const IpAddress& address);

// The address on which a service listens.
struct Endpoint {
  // Absent: known by a name that says nothing about the address.
  std::optional<IpAddress> address;
  uint16_t port = 0;
};

// "HOST:PORT" or "[V6]:PORT"; "localhost" is 127.0.0.1. Absent without a port.
std::optional<Endpoint> ParseEndpoint(absl::string_view text);

// True if a socket bound to `local` serves those who connect to the endpoint.
bool Serves(const IpAddress& local, uint16_t port, const Endpoint& endpoint);

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_ADDRESS_ADDRESS_H_

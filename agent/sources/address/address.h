// Network addresses as values.
#ifndef RAPIDEYE_AGENT_SOURCES_ADDRESS_ADDRESS_H_
#define RAPIDEYE_AGENT_SOURCES_ADDRESS_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// An IPv6 address in network order. IPv4 ones are mapped (::ffff:a.b.c.d), which
// is also how the kernel shows them on a socket that takes both.
struct IpAddress {
  std::array<uint8_t, 16> bytes = {};

  bool IsV4() const;
  bool IsUnspecified() const;  // 0.0.0.0 or ::
  bool IsLoopback() const;

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

IpAddress FromV4(std::array<uint8_t, 4> bytes);

// "10.0.0.1", "fe80::1", "::ffff:10.0.0.1"; no brackets, port or scope. Absent
// if the text is not an address.
std::optional<IpAddress> ParseIpAddress(absl::string_view text);

// The shortest usual form of an IPv4 address; an IPv6 one in full groups.
std::string ToString(const IpAddress& address);

// Where a service listens.
struct Endpoint {
  // Absent: known by a name that says nothing about the address.
  std::optional<IpAddress> address;
  uint16_t port = 0;
};

// "HOST:PORT" or "[V6]:PORT"; "localhost" is 127.0.0.1. Absent without a port.
std::optional<Endpoint> ParseEndpoint(absl::string_view text);

// True if a socket bound to `local` serves those who connect to the endpoint.
bool Serves(const IpAddress& local, uint16_t port, const Endpoint& endpoint);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_ADDRESS_ADDRESS_H_

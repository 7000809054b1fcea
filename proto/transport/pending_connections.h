// PendingConnections bounds the connections that have not made a call yet. Pure: time is an
// argument. Not synchronised.
#ifndef RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_
#define RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/time/time.h"

namespace rapideye::transport {

// A connection costs about 100 KiB before its peer has shown a certificate. gRPC ends a handshake
// after kHandshakeTimeoutMs; a connection that lasts longer has finished it, and is not counted
// any more.
inline constexpr size_t kMaxPending = 1024;
// Of one address: what a host, or many behind one NAT, need when all connect at once. Those that
// are turned away try again with a backoff.
inline constexpr size_t kMaxPendingOfPeer = 256;

class PendingConnections {
 public:
  explicit PendingConnections(absl::Duration handshake_timeout) : timeout_(handshake_timeout) {}

  // False: this address has as many already, and the connection is to be closed. `port`: the
  // peer's own.
  bool Admit(const std::string& address, uint16_t port, absl::Duration now);
  // A connection made a call: it is not pending any more. Others are not known, and ignored.
  void Arrived(const std::string& address, uint16_t port);
  // No other may be admitted before the next one arrives or expires.
  bool Full(absl::Duration now);

 private:
  using Peer = std::pair<std::string, uint16_t>;

  void Expire(absl::Duration now);
  void Forget(const Peer& peer);

  const absl::Duration timeout_;
  std::map<Peer, absl::Duration> since_;
  std::unordered_map<std::string, size_t> of_address_;
  std::deque<std::pair<absl::Duration, Peer>> by_age_;  // some of which have arrived
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_

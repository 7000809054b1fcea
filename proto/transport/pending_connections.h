// PendingConnections bounds the connections that have not made a call yet, and says which of them
// makes room for a new one. Pure: time is an argument. Not synchronised.
#ifndef RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_
#define RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::transport {

// A connection costs about 100 KiB before its peer has shown a certificate. gRPC ends a handshake
// after kHandshakeTimeoutMs; a connection that lasts longer has finished it, and is not counted
// any more.
inline constexpr size_t kMaxPending = 1024;
// Connections of one address: enough for a host, or for many behind one NAT, that all connect at
// once. A peer that is turned away tries again with a backoff.
inline constexpr size_t kMaxPendingOfPeer = 256;
// A connection that is younger makes room for no other: a handshake and the first call take
// milliseconds, and a flood of connections must not end each of them before that. With the bounds
// above, one address opens at most 1,280 connections a second.
inline constexpr absl::Duration kLeastTurn = absl::Milliseconds(200);

class PendingConnections {
 public:
  // An address and the port there.
  using Peer = std::pair<std::string, uint16_t>;

  enum class Outcome {
    kAdmitted,
    kRefused,  // its address has as many, all of them young
    kWait,     // as many are pending in all, all of them young: nobody is admitted just now
  };
  struct Admission {
    Outcome outcome = Outcome::kAdmitted;
    // The connection that ends to make room: the oldest of its address, or of the most crowded.
    std::optional<Peer> yields;
  };

  // `most`: a lower bound of all together, where descriptors are few.
  explicit PendingConnections(absl::Duration handshake_timeout, size_t most = kMaxPending)
      : timeout_(handshake_timeout), most_(std::min(most, kMaxPending)) {}

  Admission Admit(const Peer& peer, absl::Duration now);
  // A connection made a call, or is over: it is not pending any more. Ignores connections that are
  // not known.
  void Arrived(const Peer& peer) { Forget(peer); }
  // Forgets connections whose handshake has been ended by now, and returns them.
  std::vector<Peer> Expire(absl::Duration now);
  // True while no connection can be admitted: the pending one that would yield is too young.
  bool Full(absl::Duration now) const;
  bool empty() const { return turns_.empty(); }

 private:
  // Orders connections by age; the number tells apart connections of one moment.
  using Turn = std::pair<absl::Duration, uint64_t>;
  using OfAddress = std::map<Turn, Peer>;

  void Forget(const Peer& peer);
  // Connections of the address with most; of several, those of the one with the oldest connection.
  const OfAddress& MostCrowded() const;

  const absl::Duration timeout_;
  const size_t most_;
  uint64_t next_ = 0;
  std::map<Peer, Turn> turns_;
  std::unordered_map<std::string, OfAddress> of_address_;
  OfAddress by_age_;
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_PENDING_CONNECTIONS_H_

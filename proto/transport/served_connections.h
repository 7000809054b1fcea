// ServedConnections finds the connections whose calls are those of no client of ours. Pure: time is
// an argument. Not synchronised.
//
// gRPC's own limits (channel_options.h) bound the streams of a moment and the size of a call's
// metadata; these bound the calls that follow each other, and are nearer to what clients send.
#ifndef RAPIDEYE_PROTO_TRANSPORT_SERVED_CONNECTIONS_H_
#define RAPIDEYE_PROTO_TRANSPORT_SERVED_CONNECTIONS_H_

#include <cstddef>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "proto/transport/pending_connections.h"

namespace rapideye::transport {

// An agent makes a call for each stream, an operator's command a few in all. A script that asks
// without pause makes some thousand a second, and is refused (RESOURCE_EXHAUSTED) rather than cut
// off: an agent may share its connection. So many at once, and so many a second after that, are a
// flood.
inline constexpr double kCallBurst = 20'000;
inline constexpr double kCallsPerSecond = 2'000;
// Names and values of a call's metadata, as HTTP/2 counts them. Our clients send some hundred
// bytes; gRPC asks clients for at most 8 KiB.
inline constexpr size_t kMaxMetadataBytes = 16 * 1024;

class ServedConnections {
 public:
  using Peer = PendingConnections::Peer;

  // The kernel gave this descriptor to a new connection: whatever had it before is over.
  void Accepted(const Peer& peer, int descriptor);
  // The descriptor that the connection was accepted on if this call is one too many, or its
  // metadata too large; absent: the connection may go on, or is not known.
  std::optional<int> Call(const Peer& peer, size_t metadata_bytes, absl::Duration now);

 private:
  struct Connection {
    int descriptor = -1;
    double calls = 0;  // of late
    absl::Duration at = absl::ZeroDuration();
  };

  std::map<Peer, Connection> connections_;  // one for each descriptor at most
  std::map<int, Peer> by_descriptor_;
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_SERVED_CONNECTIONS_H_

#include "proto/transport/served_connections.h"

#include <algorithm>

namespace rapideye::transport {

void ServedConnections::Accepted(const Peer& peer, int descriptor) {
  const auto before = by_descriptor_.find(descriptor);
  if (before != by_descriptor_.end()) connections_.erase(before->second);
  const auto same = connections_.find(peer);
  if (same != connections_.end()) by_descriptor_.erase(same->second.descriptor);
  connections_[peer] = {.descriptor = descriptor};
  by_descriptor_[descriptor] = peer;
}

std::optional<int> ServedConnections::Call(const Peer& peer, size_t metadata_bytes,
                                           absl::Duration now) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return std::nullopt;
  Connection& connection = found->second;
  const double ended = kCallsPerSecond * absl::ToDoubleSeconds(now - connection.at);
  connection.calls = std::max(connection.calls - ended, 0.0) + 1;
  connection.at = now;
  const bool too_much = connection.calls > kCallBurst || metadata_bytes > kMaxMetadataBytes;
  return too_much ? std::optional(connection.descriptor) : std::nullopt;
}

}  // namespace rapideye::transport

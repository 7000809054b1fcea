#include "proto/transport/pending_connections.h"

namespace rapideye::transport {

bool PendingConnections::Admit(const std::string& address, uint16_t port, absl::Duration now) {
  Expire(now);
  const Peer peer(address, port);
  // The kernel gives a port again only once its connection is over.
  Forget(peer);
  const auto of_address = of_address_.find(address);
  if (of_address != of_address_.end() && of_address->second >= kMaxPendingOfPeer) return false;
  ++of_address_[address];
  since_[peer] = now;
  by_age_.emplace_back(now, peer);
  return true;
}

void PendingConnections::Arrived(const std::string& address, uint16_t port) {
  Forget(Peer(address, port));
}

bool PendingConnections::Full(absl::Duration now) {
  Expire(now);
  return since_.size() >= kMaxPending;
}

void PendingConnections::Expire(absl::Duration now) {
  while (!by_age_.empty() && now - by_age_.front().first >= timeout_) {
    const auto [since, peer] = by_age_.front();
    by_age_.pop_front();
    const auto pending = since_.find(peer);
    if (pending != since_.end() && pending->second == since) Forget(peer);
  }
}

void PendingConnections::Forget(const Peer& peer) {
  if (since_.erase(peer) == 0) return;
  const auto of_address = of_address_.find(peer.first);
  if (--of_address->second == 0) of_address_.erase(of_address);
}

}  // namespace rapideye::transport

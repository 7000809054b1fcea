#include "proto/transport/pending_connections.h"

#include <algorithm>

namespace rapideye::transport {

PendingConnections::Admission PendingConnections::Admit(const Peer& peer, absl::Duration now) {
  // The kernel gives a port again only once its connection is over.
  Forget(peer);
  const auto of_address = of_address_.find(peer.first);
  const bool crowded =
      of_address != of_address_.end() && of_address->second.size() >= kMaxPendingOfPeer;
  Admission admission;
  if (crowded || turns_.size() >= most_) {
    const auto& [turn, oldest] = *(crowded ? of_address->second : MostCrowded()).begin();
    if (now - turn.first < kLeastTurn) {
      admission.outcome = crowded ? Outcome::kRefused : Outcome::kWait;
      return admission;
    }
    admission.yields = oldest;
    Forget(*admission.yields);
  }
  const Turn turn(now, next_++);
  turns_[peer] = turn;
  by_age_[turn] = peer;
  of_address_[peer.first][turn] = peer;
  return admission;
}

std::vector<PendingConnections::Peer> PendingConnections::Expire(absl::Duration now) {
  std::vector<Peer> expired;
  while (!by_age_.empty() && now - by_age_.begin()->first.first >= timeout_) {
    expired.push_back(by_age_.begin()->second);
    Forget(expired.back());
  }
  return expired;
}

bool PendingConnections::Full(absl::Duration now) const {
  return turns_.size() >= most_ && now - MostCrowded().begin()->first.first < kLeastTurn;
}

const PendingConnections::OfAddress& PendingConnections::MostCrowded() const {
  return std::max_element(of_address_.begin(), of_address_.end(),
                          [](const auto& one, const auto& other) {
                            const OfAddress& a = one.second;
                            const OfAddress& b = other.second;
                            if (a.size() != b.size()) return a.size() < b.size();
                            return b.begin()->first < a.begin()->first;
                          })
      ->second;
}

void PendingConnections::Forget(const Peer& peer) {
  const auto found = turns_.find(peer);
  if (found == turns_.end()) return;
  const auto all = of_address_.find(peer.first);
  all->second.erase(found->second);
  if (all->second.empty()) of_address_.erase(all);
  by_age_.erase(found->second);
  turns_.erase(found);
}

}  // namespace rapideye::transport

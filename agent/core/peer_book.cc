#include "agent/core/peer_book.h"

#include <algorithm>
#include <utility>

#include "agent/limits.h"
#include "proto/wire/limits.h"

namespace rapideye::agent {

void PeerBook::Resolve(const WorkerId& self, absl::Duration now, SocketReading& reading) {
  std::vector<StrangerSocket> strangers;
  for (StrangerSocket& stranger : reading.strangers) {
    auto found = entries_.find(stranger.address);
    if (found == entries_.end() && entries_.size() < kMaxKnownAddresses) {
      found = entries_.emplace(stranger.address, Entry{std::nullopt, now, kFirstPeerSpacing}).first;
    }
    if (found == entries_.end() || !found->second.worker.has_value()) {
      strangers.push_back(std::move(stranger));
    } else if (*found->second.worker != self) {
      stranger.socket.peer = *found->second.worker;
      reading.sockets.push_back(std::move(stranger.socket));
    }
  }
  reading.strangers = std::move(strangers);
}

void PeerBook::Ask(absl::Duration now, Effects& effects) {
  if (now < next_ask_) return;
  wire::WhoIs question;
  for (auto& [address, entry] : entries_) {
    if (entry.ask_at > now) continue;
    question.addresses.push_back(address);
    // Workers come one by one when a job starts; who is none of them stays so.
    entry.ask_at = now + entry.spacing;
    entry.spacing = std::min(2 * entry.spacing, kLongestPeerSpacing);
    if (question.addresses.size() == wire::kMaxAddressesAsked) break;
  }
  if (question.addresses.empty()) return;
  next_ask_ = now + kPeerAskSpacing;
  asked_ = question.addresses;
  effects.push_back(Send{std::move(question)});
}

void PeerBook::Learn(const wire::Peers& peers) {
  for (const wire::PeerAddress& peer : peers.peers) {
    if (std::find(asked_.begin(), asked_.end(), peer.address) == asked_.end()) continue;
    Entry& entry = entries_.at(peer.address);
    entry.worker = peer.worker;
    entry.spacing = kLongestPeerSpacing;
  }
  asked_.clear();
}

}  // namespace rapideye::agent

#include "agent/core/peer_book.h"

#include <algorithm>
#include <utility>

#include "agent/core/limits.h"
#include "proto/v1/messages.h"

namespace rapideye::agent {

void PeerBook::Resolve(const WorkerId& self, absl::Duration now, SocketReading& reading) {
  std::vector<StrangerSocket> strangers;
  for (StrangerSocket& stranger : reading.strangers) {
    const Entry* entry = Find(stranger.address, now);
    if (entry == nullptr || !entry->worker.has_value()) {
      strangers.push_back(std::move(stranger));
    } else if (*entry->worker != self) {
      stranger.socket.peer = *entry->worker;
      reading.sockets.push_back(std::move(stranger.socket));
    }
  }
  reading.strangers = std::move(strangers);
}

// An agent outlives jobs, and each job brings addresses of its own: the address that was not
// seen for longest makes room.
PeerBook::Entry* PeerBook::Find(const IpAddress& address, absl::Duration now) {
  auto found = entries_.find(address);
  if (found == entries_.end()) {
    if (full_at_ == now) return nullptr;
    if (entries_.size() == kMaxKnownAddresses) {
      const auto oldest = std::min_element(
          entries_.begin(), entries_.end(),
          [](const auto& a, const auto& b) { return a.second.seen_at < b.second.seen_at; });
      if (oldest->second.seen_at == now) {
        full_at_ = now;
        return nullptr;
      }
      entries_.erase(oldest);
    }
    found = entries_.emplace(address, Entry{std::nullopt, now, kFirstPeerSpacing, now}).first;
  }
  found->second.seen_at = now;
  return &found->second;
}

void PeerBook::Ask(absl::Duration now, Effects& effects) {
  if (now < next_ask_) return;
  wire::WhoIs question;
  for (auto& [address, entry] : entries_) {
    if (entry.ask_at > now) continue;
    question.addresses.push_back(address);
    // Workers come one by one when a job starts; an address that stays unknown is of no worker.
    entry.ask_at = now + entry.spacing;
    entry.spacing = std::min(2 * entry.spacing, kLongestPeerSpacing);
    if (question.addresses.size() == wire::WhoIs::kMaxAddresses) break;
  }
  if (question.addresses.empty()) return;
  next_ask_ = now + kPeerAskSpacing;
  asked_ = question.addresses;
  effects.push_back(Send{std::move(question)});
}

void PeerBook::Learn(const wire::Peers& peers) {
  for (const wire::PeerAddress& peer : peers.peers) {
    if (std::find(asked_.begin(), asked_.end(), peer.address) == asked_.end()) continue;
    const auto entry = entries_.find(peer.address);
    if (entry == entries_.end()) continue;  // the entry has made room meanwhile
    entry->second.worker = peer.worker;
    entry->second.spacing = kLongestPeerSpacing;
  }
  asked_.clear();
}

}  // namespace rapideye::agent

#include "classifier/link_evidence.h"

#include <algorithm>
#include <map>
#include <set>

#include "classifier/thresholds.h"

namespace rapideye::classifier {

std::optional<std::string> PairEvidence::OnlyNic() const {
  if (bad_nics.size() != 1 || good_nics.empty() || good_nics.contains(*bad_nics.begin())) {
    return std::nullopt;
  }
  return *bad_nics.begin();
}

namespace {

class Collector {
 public:
  explicit Collector(const Case& c) : c_(c) {
    const size_t workers = c.topology.workers().size();
    links_.broken_peers.resize(workers);
    links_.reached_peers.resize(workers);
    links_.probed.resize(workers);
    links_.probed_failed.resize(workers);
    links_.delivers.resize(workers);
    long_ms_ = static_cast<int64_t>(
        kLongWaitShare * static_cast<double>(c.timeline.still_ms.value_or(c.threshold_ms)));
  }

  LinkEvidence Collect() {
    for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) {
      const Snapshot* snapshot = c_.worker(i).snapshot;
      if (snapshot == nullptr) continue;
      for (const Probe& probe : snapshot->probes) AddProbe(i, probe);
      for (const Socket& socket : snapshot->sockets) AddSocket(i, socket);
      for (const Transfer& transfer : snapshot->transfers) AddTransfer(i, transfer);
    }
    DropWhatFirewallsExplain();
    for (const auto& [pair, evidence] : links_.pairs) {
      if (!evidence.Broken()) continue;
      links_.broken_peers[static_cast<size_t>(pair.first)].insert(pair.second);
      links_.broken_peers[static_cast<size_t>(pair.second)].insert(pair.first);
    }
    NoteWhoDelivers();
    return std::move(links_);
  }

 private:
  PairEvidence* Pair(int worker, WorkerId peer_id, int& peer) {
    peer = c_.topology.Find(peer_id);
    if (peer < 0 || peer == worker) return nullptr;
    return &links_.pairs[std::minmax(worker, peer)];
  }

  void AddProbe(int worker, const Probe& probe) {
    int peer = -1;
    PairEvidence* pair = Pair(worker, probe.peer, peer);
    if (pair == nullptr) return;
    ++links_.probed[static_cast<size_t>(peer)];
    if (probe.ok) {
      passed_[std::minmax(worker, peer)].insert(worker);
      if (probe.nic.has_value()) pair->good_nics.insert(*probe.nic);
      links_.reached_peers[static_cast<size_t>(worker)].insert(peer);
      links_.reached_peers[static_cast<size_t>(peer)].insert(worker);
      return;
    }
    ++links_.probed_failed[static_cast<size_t>(peer)];
    pair->failed_probe.insert(worker);
    if (probe.nic.has_value()) pair->bad_nics.insert(*probe.nic);
  }

  void AddSocket(int worker, const Socket& socket) {
    const bool stuck = socket.unacked_bytes > 0 && socket.since_ack_ms >= long_ms_;
    const bool unanswered = socket.state == SocketState::kSynSent;
    int peer = -1;
    if (!stuck && !unanswered && socket.state != SocketState::kGone) {
      peer = c_.topology.Find(socket.peer);
      const bool clean = socket.state == SocketState::kEstablished && socket.unacked_bytes == 0;
      if (clean && peer >= 0 && peer != worker) clean_[std::minmax(worker, peer)].insert(worker);
      return;
    }
    PairEvidence* pair = Pair(worker, socket.peer, peer);
    if (pair == nullptr) return;
    if (stuck || unanswered) {
      pair->unacked.insert(worker);
      if (socket.nic.has_value()) pair->bad_nics.insert(*socket.nic);
    } else {
      pair->gone.insert(worker);
    }
  }

  void AddTransfer(int worker, const Transfer& transfer) {
    if (transfer.pending_ms < long_ms_) return;
    int peer = -1;
    PairEvidence* pair = Pair(worker, transfer.peer, peer);
    if (pair != nullptr) pair->pending.insert(worker);
  }

  // A firewall drops them, and nothing else. So it is if both ends show connections to each other
  // none of which holds bytes: whom a transfer does not reach, of that the sender's are left
  // unacknowledged. Likewise if each probe of the other end succeeds: it went there and back.
  bool OnlyProbesAreDropped(const WorkerPair& pair, const PairEvidence& evidence) const {
    if (HasOtherEvidence(evidence)) return false;
    const auto clean = clean_.find(pair);
    if (clean != clean_.end() && clean->second.size() == 2) return true;
    const auto passed = passed_.find(pair);
    return passed != passed_.end() && passed->second.size() == 1 &&
           evidence.failed_probe.size() == 1 && passed->second != evidence.failed_probe;
  }

  // A firewall is a host's: where it is seen to drop probes of one peer and nothing else, those
  // that it drops of others are no evidence either. It may drop what comes, or what goes, too.
  void DropWhatFirewallsExplain() {
    std::set<int> drops_incoming;
    std::set<int> drops_both;
    for (auto& [pair, evidence] : links_.pairs) {
      if (evidence.failed_probe.empty() || !OnlyProbesAreDropped(pair, evidence)) continue;
      for (int reporter : evidence.failed_probe) {
        const int target = reporter == pair.first ? pair.second : pair.first;
        drops_incoming.insert(target);
        if (evidence.failed_probe.size() == 2) drops_both.insert(target);
      }
      evidence.failed_probe.clear();
      evidence.bad_nics.clear();
    }
    for (const auto& [pair, evidence] : links_.pairs) {
      if (!HasOtherEvidence(evidence)) continue;
      for (int worker : {pair.first, pair.second}) {
        drops_incoming.erase(worker);
        drops_both.erase(worker);
      }
    }
    for (auto& [pair, evidence] : links_.pairs) {
      if (HasOtherEvidence(evidence) || evidence.failed_probe.empty()) continue;
      std::erase_if(evidence.failed_probe, [&, &ends = pair](int reporter) {
        const int target = reporter == ends.first ? ends.second : ends.first;
        return drops_incoming.contains(target) || drops_both.contains(reporter);
      });
      if (evidence.failed_probe.empty()) evidence.bad_nics.clear();
    }
  }

  void NoteWhoDelivers() {
    for (const auto& [pair, ends] : clean_) {
      if (ends.size() < 2) continue;
      for (int worker : {pair.first, pair.second})
        links_.delivers[static_cast<size_t>(worker)] = true;
    }
    for (const auto& [pair, evidence] : links_.pairs) {
      if (!HasOtherEvidence(evidence)) continue;
      for (int worker : {pair.first, pair.second}) {
        links_.delivers[static_cast<size_t>(worker)] = false;
      }
    }
  }

  static bool HasOtherEvidence(const PairEvidence& evidence) {
    return !evidence.unacked.empty() || !evidence.gone.empty() || !evidence.pending.empty();
  }

  const Case& c_;
  LinkEvidence links_;
  std::map<WorkerPair, std::set<int>> clean_;   // the ends that have clean connections
  std::map<WorkerPair, std::set<int>> passed_;  // the ends a probe of which succeeded
  int64_t long_ms_ = 0;
};

}  // namespace

LinkEvidence CollectLinks(const Case& c) { return Collector(c).Collect(); }

}  // namespace rapideye::classifier

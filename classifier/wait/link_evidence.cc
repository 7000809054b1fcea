#include "classifier/wait/link_evidence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {

std::optional<std::string> PairEvidence::OnlyNic() const {
  if (bad_nics.size() != 1 || good_nics.empty() || good_nics.contains(*bad_nics.begin())) {
    return std::nullopt;
  }
  return *bad_nics.begin();
}

bool LinkEvidence::Reached(int worker, int peer) const {
  const std::vector<int>& reached = reached_peers[static_cast<size_t>(worker)];
  return std::binary_search(reached.begin(), reached.end(), peer);
}

namespace {

enum class Shown { kProbeFailed, kProbePassed, kUnacked, kGone, kPending, kLossy, kClean };

// One report about a pair of workers. Ten thousand hosts make a hundred thousand reports, nearly
// all about connections that work: a report on such a connection costs no further memory.
struct LinkReport {
  int first;      // the worker of the pair with the lesser index
  int other;      // the worker of the pair with the greater index
  bool by_other;  // the worker with the greater index reports
  Shown shown;
  const std::string* nic;  // of the reporter; null: not known
};

// Evidence that a connection works, for a pair that also has evidence against it.
struct Working {
  bool clean_at_both = false;            // connections that hold no bytes
  bool lossy = false;                    // a connection loses packets, so may a probe have been
  std::optional<int> only_passed_probe;  // by this end alone
};

// Reads the reports of workers about each other, and counts the probes of each worker.
class Reader {
 public:
  Reader(const Topology& topology, int64_t still_ms, LinkEvidence& counts)
      : topology_(topology),
        counts_(counts),
        long_ms_(static_cast<int64_t>(kLongWaitShare * static_cast<double>(still_ms))),
        many_retransmits_(ManyRetransmits(topology)) {}

  // Those about one pair come in the order in which workers report.
  std::vector<LinkReport> Read() {
    for (int i = 0; i < static_cast<int>(topology_.workers().size()); ++i) {
      const Snapshot* snapshot = topology_.worker(i).snapshot;
      if (snapshot == nullptr) continue;
      for (const Probe& probe : snapshot->probes) AddProbe(i, probe);
      for (const Socket& socket : snapshot->sockets) AddSocket(i, socket);
      for (const Transfer& transfer : snapshot->transfers) AddTransfer(i, transfer);
    }
    return std::move(reports_);
  }

 private:
  void Add(int worker, WorkerId peer_id, Shown shown, const std::optional<std::string>& nic) {
    const int peer = topology_.Find(peer_id);
    if (peer < 0 || peer == worker) return;
    const auto [first, second] = std::minmax(worker, peer);
    reports_.push_back({first, second, worker == second, shown, nic.has_value() ? &*nic : nullptr});
    if (shown == Shown::kProbeFailed) ++counts_.probed_failed[static_cast<size_t>(peer)];
    if (shown == Shown::kProbeFailed || shown == Shown::kProbePassed) {
      ++counts_.probed[static_cast<size_t>(peer)];
    }
  }

  void AddProbe(int worker, const Probe& probe) {
    Add(worker, probe.peer, probe.ok ? Shown::kProbePassed : Shown::kProbeFailed, probe.nic);
  }

  // The count of retransmits that is too far above the job's median to be noise of its network.
  static int64_t ManyRetransmits(const Topology& topology) {
    std::vector<int64_t> all;
    for (const WorkerInfo& worker : topology.workers()) {
      if (worker.snapshot == nullptr) continue;
      for (const Socket& socket : worker.snapshot->sockets) all.push_back(socket.retransmits);
    }
    if (all.empty()) return kLossyRetransmits;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    // No healthy count comes near the bound; a hostile one must not overflow.
    return std::max(kLossyRetransmits, kLossyFactor * std::min(*middle, kMaxTypicalRetransmits));
  }

  // Retransmits are counted since the connection began. If a connection has been silent since the
  // job stands, they may be old; they are recent if bytes were acknowledged later, or still wait.
  bool IsLossy(const Socket& socket) const {
    const bool waits = socket.unacked_bytes > 0 && socket.since_ack_ms >= kHeldBytesMs;
    const bool late = socket.unacked_bytes == 0 && socket.since_ack_ms < long_ms_;
    return socket.retransmits >= many_retransmits_ && (waits || late);
  }

  void AddSocket(int worker, const Socket& socket) {
    if (IsLossy(socket)) Add(worker, socket.peer, Shown::kLossy, std::nullopt);
    const bool stuck = socket.unacked_bytes > 0 && socket.since_ack_ms >= long_ms_;
    if (stuck || socket.state == SocketState::kSynSent) {
      Add(worker, socket.peer, Shown::kUnacked, socket.nic);
    } else if (socket.state == SocketState::kGone) {
      Add(worker, socket.peer, Shown::kGone, std::nullopt);
    } else if (socket.state == SocketState::kEstablished && socket.unacked_bytes == 0) {
      Add(worker, socket.peer, Shown::kClean, std::nullopt);
    }
  }

  void AddTransfer(int worker, const Transfer& transfer) {
    if (transfer.pending_ms < long_ms_) return;
    Add(worker, transfer.peer, Shown::kPending, std::nullopt);
  }

  const Topology& topology_;
  LinkEvidence& counts_;
  const int64_t long_ms_;
  const int64_t many_retransmits_;
  std::vector<LinkReport> reports_;
};

// `by`: the worker that reports it.
void AddTo(PairEvidence& evidence, const LinkReport& report, int by) {
  switch (report.shown) {
    case Shown::kProbeFailed:
      evidence.failed_probe.insert(by);
      if (report.nic != nullptr) evidence.bad_nics.insert(*report.nic);
      break;
    case Shown::kProbePassed:
      if (report.nic != nullptr) evidence.good_nics.insert(*report.nic);
      break;
    case Shown::kUnacked:
      evidence.unacked.insert(by);
      if (report.nic != nullptr) evidence.bad_nics.insert(*report.nic);
      break;
    case Shown::kGone:
      evidence.gone.insert(by);
      break;
    case Shown::kPending:
      evidence.pending.insert(by);
      break;
    case Shown::kLossy:
    case Shown::kClean:
      break;
  }
}

class LinkCollector {
 public:
  LinkCollector(const Topology& topology, int64_t still_ms);
  LinkEvidence Collect();

 private:
  // Takes all reports, one pair after the other.
  void TakeReports(const std::vector<LinkReport>& reports);
  void TakePair(const WorkerPair& pair, std::span<const LinkReport> reports);

  // A firewall drops probes, and no other traffic. This holds if both ends show connections to each
  // other and none of these holds bytes: bytes that do not reach the other end stay unacknowledged
  // at the sender. It holds likewise if each probe by the other end succeeds, because such a probe
  // went there and back. It does not hold if connections lose packets as well: such a network loses
  // probes too, while bytes get through from time to time.
  bool OnlyProbesAreDropped(const WorkerPair& pair, const PairEvidence& evidence) const;

  // A firewall belongs to a host: if it is seen to drop only the probes of one peer, the failed
  // probes of other peers are no evidence either. It may drop incoming or outgoing probes, too.
  void DropWhatFirewallsExplain();

  static bool HasOtherEvidence(const PairEvidence& evidence) {
    return !evidence.unacked.empty() || !evidence.gone.empty() || !evidence.pending.empty();
  }

  const Topology& topology_;
  const int64_t still_ms_;
  LinkEvidence links_;
  std::map<WorkerPair, Working> working_;  // of those with anything against them
};

LinkCollector::LinkCollector(const Topology& topology, int64_t still_ms)
    : topology_(topology), still_ms_(still_ms) {
  const size_t workers = topology.workers().size();
  links_.broken_peers.resize(workers);
  links_.reached_peers.resize(workers);
  links_.probed.resize(workers);
  links_.probed_failed.resize(workers);
  links_.delivers.resize(workers);
}

LinkEvidence LinkCollector::Collect() {
  TakeReports(Reader(topology_, still_ms_, links_).Read());
  DropWhatFirewallsExplain();
  for (const auto& [pair, evidence] : links_.pairs) {
    if (!evidence.Broken()) continue;
    links_.broken_peers[static_cast<size_t>(pair.first)].push_back(pair.second);
    links_.broken_peers[static_cast<size_t>(pair.second)].push_back(pair.first);
  }
  for (const auto& [pair, evidence] : links_.pairs) {
    if (!HasOtherEvidence(evidence)) continue;
    for (int worker : {pair.first, pair.second}) {
      links_.delivers[static_cast<size_t>(worker)] = false;
    }
  }
  return std::move(links_);
}

void LinkCollector::TakeReports(const std::vector<LinkReport>& reports) {
  // Many short sorts are cheaper than a long one.
  std::vector<size_t> end_of(topology_.workers().size() + 1, 0);  // of a worker's, once distributed
  for (const LinkReport& report : reports) ++end_of[static_cast<size_t>(report.first) + 1];
  std::partial_sum(end_of.begin(), end_of.end(), end_of.begin());
  std::vector<LinkReport> by_first(reports.size());
  for (const LinkReport& report : reports) {
    by_first[end_of[static_cast<size_t>(report.first)]++] = report;
  }
  auto begin = by_first.begin();
  for (size_t worker = 0; worker < topology_.workers().size(); ++worker) {
    const auto stop = by_first.begin() + static_cast<std::ptrdiff_t>(end_of[worker]);
    std::sort(begin, stop,
              [](const LinkReport& a, const LinkReport& b) { return a.other < b.other; });
    while (begin != stop) {
      const auto end = std::find_if(
          begin, stop, [&](const LinkReport& report) { return report.other != begin->other; });
      TakePair({static_cast<int>(worker), begin->other}, {begin, end});
      begin = end;
    }
  }
}

void LinkCollector::TakePair(const WorkerPair& pair, std::span<const LinkReport> reports) {
  // [0]: reports by the first worker of the pair; [1]: by the second.
  std::array<bool, 2> clean = {};
  std::array<bool, 2> passed = {};
  bool against = false;
  bool lossy = false;
  for (const LinkReport& report : reports) {
    if (report.shown == Shown::kLossy) {
      lossy = true;
    } else if (report.shown == Shown::kClean) {
      clean[report.by_other ? 1 : 0] = true;
    } else if (report.shown == Shown::kProbePassed) {
      passed[report.by_other ? 1 : 0] = true;
    } else {
      against = true;
    }
  }
  const bool clean_at_both = clean[0] && clean[1];
  for (int worker : {pair.first, pair.second}) {
    if (clean_at_both) links_.delivers[static_cast<size_t>(worker)] = true;
  }
  if (passed[0] || passed[1]) {
    links_.reached_peers[static_cast<size_t>(pair.first)].push_back(pair.second);
    links_.reached_peers[static_cast<size_t>(pair.second)].push_back(pair.first);
  }
  if (!against) return;
  Working& working = working_[pair];
  working.clean_at_both = clean_at_both;
  working.lossy = lossy;
  if (passed[0] != passed[1]) working.only_passed_probe = passed[0] ? pair.first : pair.second;
  PairEvidence& evidence = links_.pairs[pair];
  for (const LinkReport& report : reports) {
    AddTo(evidence, report, report.by_other ? pair.second : pair.first);
  }
}

bool LinkCollector::OnlyProbesAreDropped(const WorkerPair& pair,
                                         const PairEvidence& evidence) const {
  if (HasOtherEvidence(evidence)) return false;
  const Working& working = working_.at(pair);
  if (working.lossy) return false;
  if (working.clean_at_both) return true;
  return working.only_passed_probe.has_value() && evidence.failed_probe.size() == 1 &&
         !evidence.failed_probe.contains(*working.only_passed_probe);
}

void LinkCollector::DropWhatFirewallsExplain() {
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

}  // namespace

LinkEvidence CollectLinks(const Topology& topology, int64_t still_ms) {
  return LinkCollector(topology, still_ms).Collect();
}

}  // namespace rapideye::classifier

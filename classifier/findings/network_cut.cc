#include "classifier/findings/network_cut.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "classifier/findings/facts.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kMaxCulprits = 10;

bool HasNicWithoutCarrier(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  return snapshot != nullptr && std::any_of(snapshot->nics.begin(), snapshot->nics.end(),
                                            [](const Nic& nic) { return !nic.up; });
}

// Two-colours the hosts: hosts that reach each other have one colour, the ends of a broken
// connection have two. Unconnected pieces are turned so that hosts of one slice have one colour.
class Colouring {
 public:
  Colouring(const Case& c, const LinkEvidence& links,
            const std::map<WorkerPair, const PairEvidence*>& open)
      : c_(c), links_(links), open_(open) {}

  std::optional<NetworkCut> Find();

 private:
  // True if one worker is an end of every broken connection.
  bool OneExplainsAll() const;
  bool InAll(int worker) const;
  bool SomeCarrierIsDown() const;
  int Root(int worker);
  void JoinWhoReachesEachOther();

  // Joins sets with a broken connection between them; false if a connection within a set is broken.
  bool TakeEdges();

  // Colours the sets by their roots: true for the side of a piece's first set.
  bool Colour();

  // Counts the hosts of a piece that stand with their coloured slices, less those that stand apart.
  int BySlices(const std::map<int, bool>& piece);
  std::vector<int> MembersOf(int root);
  std::optional<NetworkCut> Sides();

  const Case& c_;
  const LinkEvidence& links_;
  const std::map<WorkerPair, const PairEvidence*>& open_;
  std::vector<int> parent_;  // of a forest: hosts of one tree reach each other
  std::map<int, std::set<int>> edges_;
  std::map<int, bool> colour_;
  std::map<int, int> slices_;  // hosts of one colour less those of the other
  std::map<int, std::vector<int>> members_;
};

std::optional<NetworkCut> Colouring::Find() {
  if (open_.size() < 2 || OneExplainsAll() || SomeCarrierIsDown()) return std::nullopt;
  JoinWhoReachesEachOther();
  if (!TakeEdges() || !Colour()) return std::nullopt;
  return Sides();
}

bool Colouring::OneExplainsAll() const {
  const WorkerPair& first = open_.begin()->first;
  return InAll(first.first) || InAll(first.second);
}

bool Colouring::InAll(int worker) const {
  return std::all_of(open_.begin(), open_.end(), [worker](const auto& entry) {
    return entry.first.first == worker || entry.first.second == worker;
  });
}

bool Colouring::SomeCarrierIsDown() const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    return HasNicWithoutCarrier(c_, entry.first.first) ||
           HasNicWithoutCarrier(c_, entry.first.second);
  });
}

int Colouring::Root(int worker) {
  while (parent_[static_cast<size_t>(worker)] != worker) {
    int& parent = parent_[static_cast<size_t>(worker)];
    parent = parent_[static_cast<size_t>(parent)];
    worker = parent;
  }
  return worker;
}

void Colouring::JoinWhoReachesEachOther() {
  const int workers = static_cast<int>(c_.topology.workers().size());
  parent_.resize(static_cast<size_t>(workers));
  for (int i = 0; i < workers; ++i) parent_[static_cast<size_t>(i)] = i;
  for (int i = 0; i < workers; ++i) {
    for (int peer : links_.reached_peers[static_cast<size_t>(i)]) {
      if (!open_.contains(std::minmax(i, peer))) {
        parent_[static_cast<size_t>(Root(i))] = Root(peer);
      }
    }
  }
}

bool Colouring::TakeEdges() {
  for (const auto& [pair, evidence] : open_) {
    const int a = Root(pair.first);
    const int b = Root(pair.second);
    if (a != b) {
      edges_[a].insert(b);
      edges_[b].insert(a);
    } else if (!evidence->unacked.empty() || evidence->failed_probe.size() > 1) {
      return false;
    }
  }
  return !edges_.empty();
}

bool Colouring::Colour() {
  for (const auto& [root, others] : edges_) {
    if (colour_.contains(root)) continue;
    std::map<int, bool> piece = {{root, true}};
    std::vector<int> todo = {root};
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for (int other : edges_.at(at)) {
        const auto [found, added] = piece.try_emplace(other, !piece.at(at));
        if (added) todo.push_back(other);
        if (found->second == piece.at(at)) return false;
      }
    }
    const bool turn = BySlices(piece) < 0;
    for (const auto& [one, side] : piece) {
      colour_[one] = side != turn;
      for (int worker : MembersOf(one)) slices_[c_.worker(worker).slice] += side != turn ? 1 : -1;
    }
  }
  return true;
}

int Colouring::BySlices(const std::map<int, bool>& piece) {
  int votes = 0;
  for (const auto& [one, side] : piece) {
    for (int worker : MembersOf(one)) {
      const auto found = slices_.find(c_.worker(worker).slice);
      if (found == slices_.end() || found->second == 0) continue;
      votes += (found->second > 0) == side ? 1 : -1;
    }
  }
  return votes;
}

std::vector<int> Colouring::MembersOf(int root) {
  if (members_.empty()) {
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) members_[Root(i)].push_back(i);
  }
  return members_[root];
}

std::optional<NetworkCut> Colouring::Sides() {
  NetworkCut cut;
  for (const auto& [root, side] : colour_) {
    std::vector<int>& workers = cut.sides[side ? 0 : 1];
    const std::vector<int> members = MembersOf(root);
    workers.insert(workers.end(), members.begin(), members.end());
  }
  for (std::vector<int>& side : cut.sides) std::sort(side.begin(), side.end());
  auto& [one, other] = cut.sides;
  if (std::pair(other.size(), other) < std::pair(one.size(), one)) std::swap(one, other);
  std::array<std::set<int>, 2> ends;
  for (const auto& [pair, evidence] : open_) {
    const bool first = std::binary_search(one.begin(), one.end(), pair.first);
    const bool second = std::binary_search(one.begin(), one.end(), pair.second);
    if (first == second) continue;
    cut.pairs.push_back(pair);
    ends[0].insert(first ? pair.first : pair.second);
    ends[1].insert(first ? pair.second : pair.first);
  }
  if (ends[0].size() < 2 || ends[1].size() < 2) return std::nullopt;
  return cut;
}

// The worker that a finding on one host accuses.
int HostOf(const Case& c, const Finding& finding) {
  return c.topology.Find(finding.culprits.front().worker);
}

bool IsOneCut(const Case& c, const LinkEvidence& links, const std::set<int>& hosts) {
  for (const int host : hosts) {
    if (HasNicWithoutCarrier(c, host)) return false;
    const auto n = static_cast<size_t>(host);
    const auto among_them = [&hosts](int peer) { return hosts.contains(peer); };
    const std::vector<int>& broken = links.broken_peers[n];
    const std::vector<int>& reached = links.reached_peers[n];
    if (std::any_of(broken.begin(), broken.end(), among_them)) return false;
    if (!std::all_of(reached.begin(), reached.end(), among_them)) return false;
  }
  return true;
}

}  // namespace

std::optional<NetworkCut> FindNetworkCut(const Case& c, const LinkEvidence& links,
                                         const std::map<WorkerPair, const PairEvidence*>& open) {
  return Colouring(c, links, open).Find();
}

void JoinIfOneCut(const Case& c, const LinkEvidence& links, std::vector<Finding>& hosts) {
  if (hosts.size() < 2) return;
  std::set<int> cut;
  int without_carrier = 0;
  for (const Finding& finding : hosts) {
    cut.insert(HostOf(c, finding));
    if (HasNicWithoutCarrier(c, HostOf(c, finding))) ++without_carrier;
  }
  // A switch that fails takes the carrier from all NICs at its ports.
  for (Finding& finding : hosts) {
    if (without_carrier == 1 && HasNicWithoutCarrier(c, HostOf(c, finding))) continue;
    finding.removable.clear();
    finding.removal_reason = "another host is cut off, too: what they share may be at fault";
  }
  if (!IsOneCut(c, links, cut)) return;
  Finding one = hosts.front();
  one.detail = Detail::kDcnPartition;
  const std::vector<int> smaller(cut.begin(), cut.end());
  one.evidence = {Evidence(c, Strength::kStrong, SetsCut{.smaller = &smaller})};
  one.why = one.evidence.front().statement;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    one.partition[cut.contains(i) ? 0 : 1].push_back(c.worker(i).id);
  }
  one.culprits.clear();
  one.links.clear();
  for (const Finding& finding : hosts) {
    // A host that had nothing to send weakens the proof of the cut, but does not contradict it.
    one.confidence = std::max(one.confidence, finding.confidence);
    if (one.culprits.size() < kMaxCulprits) {
      Culprit culprit = finding.culprits.front();
      culprit.nic.reset();
      one.culprits.push_back(std::move(culprit));
    }
    one.links.insert(one.links.end(), finding.links.begin(), finding.links.end());
    for (const EvidenceItem& item : finding.evidence) {
      if (one.evidence.size() < kMaxEvidence) one.evidence.push_back(item);
    }
  }
  hosts = {std::move(one)};
}

}  // namespace rapideye::classifier

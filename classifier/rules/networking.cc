// The network between slices (DCN) is at fault if cores that have arrived at a
// transfer wait for data that a connection does not deliver.
//
// The evidence: bytes that the kernel has sent and that stay unacknowledged, probes
// that fail, on the very pair whose workers the others wait for. A worker in
// several broken connections is the culprit rather than its peers; if only one of
// its NICs fails, that NIC. Sockets that vanished are no evidence: they vanish whenever a
// process ends, whatever ended it.
//
// Facts: kernel TCP state (unacknowledged bytes, time since the last acknowledgement),
// probes made at the time of the hang, carrier and error counters of NICs.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/findings/network_cut.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wait/link_evidence.h"

namespace rapideye::classifier {
namespace {

// True if one NIC alone fails: the host reaches its peers over another, or that NIC has
// no carrier while another one has.
std::optional<std::string> NicAtFault(const Case& c, int worker, const std::set<std::string>& bad,
                                      const std::set<std::string>& good) {
  if (bad.size() != 1 || good.contains(*bad.begin())) return std::nullopt;
  const std::string& name = *bad.begin();
  if (!good.empty()) return name;
  bool down = false;
  bool other_up = false;
  for (const Nic& nic : c.worker(worker).snapshot->nics) {
    if (nic.name == name) {
      down = !nic.up;
    } else {
      other_up = other_up || nic.up;
    }
  }
  return down && other_up ? std::optional(name) : std::nullopt;
}

std::optional<std::string> OnlyOf(const std::set<std::string>& names) {
  return names.size() == 1 ? std::optional(*names.begin()) : std::nullopt;
}

// True if the head stands apart from its slice at a place of which nothing is known.
bool MayBeTransfer(const Case& c, const Head& head) {
  if (head.kind != HeadKind::kElsewhere && head.kind != HeadKind::kLaggard) return false;
  const Place* place = c.PlaceOf(head);
  return place != nullptr && place->hlo_class == HloClass::kUnknown && !head.moving;
}

class NetworkingRule {
 public:
  NetworkingRule(const Case& c, Findings& out);
  void Apply();

 private:
  bool MayBeAtTransfer(const WorkerPair& pair) const {
    return may_be_at_transfer_.contains(pair.first) || may_be_at_transfer_.contains(pair.second);
  }
  bool Awaited(int worker) const;

  // True if one of the two is seen to wait for another slice, or their slices stand together at a
  // transfer at which no other slice stands.
  bool AreAtTransfer(const WorkerPair& pair) const;
  SliceState StateOf(int worker) const {
    return c_.graph.slices[static_cast<size_t>(c_.worker(worker).slice)].state;
  }

  // No worker of either side is eligible for removal: the part that they share is cut.
  void TakeCut(std::map<WorkerPair, const PairEvidence*>& open);

  // While a worker is in two or more broken connections, the worker in most of
  // them explains its connections. Those on which a probe was lost count only among themselves.
  void TakeHosts(std::map<WorkerPair, const PairEvidence*>& open);
  void TakeHostsOf(bool lost_probes, const std::set<WorkerPair>& lost,
                   std::map<WorkerPair, const PairEvidence*>& open);

  // One broken connection, where one end's NIC has no carrier: that end is at fault.
  void TakeHostsWithoutCarrier(std::map<WorkerPair, const PairEvidence*>& open);
  bool CarrierDown(int worker, const std::set<std::string>& nics) const;
  void TakeHost(int worker, std::map<WorkerPair, const PairEvidence*>& open);

  // Allows removal if the host's own side and its peers' probes agree, while these reach others.
  void JudgeRemoval(int worker, const std::optional<std::string>& nic, const std::set<int>& peers,
                    const std::set<int>& agreeing, Finding& finding) const;

  // True if the host's own side shows that it is cut off: a NIC without carrier; or probes or
  // connections of its own that do not get through, while one end holds bytes. A firewall that
  // drops all probes of a host looks like a NIC that is silent, but stops no bytes.
  bool OwnSideShows(int worker, const std::optional<std::string>& nic,
                    const std::set<int>& peers) const;

  // True if a peer reaches the worker, or the worker a peer, over the NIC in question.
  bool IsReached(int worker, const std::optional<std::string>& nic) const;

  // True if no probe gets through to another host that is missing or takes part in probes, or if
  // a connection to a missing one is broken. That host may be behind the same cut as the worker,
  // and then a switch fails, not a host.
  bool AnotherMayBeCutOff(int worker) const;

  // True if it shows connections to peers, and all that it and they sent has been acknowledged: of
  // a host that is cut off in the midst of a transfer, one end holds bytes.
  bool AllIsAcknowledged(int worker) const;
  void TakePair(const WorkerPair& pair, const PairEvidence& evidence);

  // A single failed probe and no other evidence: between hosts without traffic it proves nothing,
  // and between others a single packet may have been lost.
  static bool IsStray(const PairEvidence& evidence);

  // True if such a probe is all that is against a connection on which another probe passed, and no
  // end of it has another broken connection over the same NIC.
  bool IsLostProbe(const WorkerPair& pair, const PairEvidence& evidence) const;

  // True if cores of the two exchange data: the same task in two slices, or sockets that show it.
  bool Exchange(const WorkerPair& pair) const;
  std::string AddLink(const WorkerPair& pair, const PairEvidence& evidence, Finding& finding) const;
  void Finish(Finding& finding, const std::string& text);

  // Without bytes sent or probes: one end of those that wait has a NIC without
  // carrier.
  void HostByCarrier(int worker);

  // Without any evidence of sockets or probes: two hosts of two slices that alone wait
  // for another slice can only wait for each other.
  void ByPlaceAlone();

  // True if a host of the same task has no known cores: the cores of these hosts exchange data.
  bool HasBlindPeer(int worker) const;

  const Case& c_;
  Findings& out_;
  const LinkEvidence& links_;
  std::vector<Finding> hosts_;
  std::set<int> waits_outside_;
  std::set<int> may_wait_outside_;
  std::set<int> may_be_at_transfer_;  // nothing else is known of one chip
};

NetworkingRule::NetworkingRule(const Case& c, Findings& out) : c_(c), out_(out), links_(c.links) {
  for (const Head& head : c.graph.heads) {
    if (head.kind == HeadKind::kCrossWait) {
      waits_outside_.insert(head.worker);
    } else if (head.whole_host) {
      may_wait_outside_.insert(head.worker);
    } else if (MayBeTransfer(c, head)) {
      may_be_at_transfer_.insert(head.worker);
    }
  }
}

void NetworkingRule::Apply() {
  std::map<WorkerPair, const PairEvidence*> open;
  for (const auto& [pair, evidence] : links_.pairs) {
    // A worker that is missing altogether is no case of a broken link.
    if (c_.worker(pair.first).snapshot == nullptr || c_.worker(pair.second).snapshot == nullptr) {
      continue;
    }
    if (evidence.Broken()) open[pair] = &evidence;
  }
  if (open.empty()) {
    ByPlaceAlone();
    return;
  }
  TakeCut(open);
  TakeHosts(open);
  JoinIfOneCut(c_, links_, hosts_);
  for (const Finding& finding : hosts_) out_.Add(finding);
  for (const auto& [pair, evidence] : open) TakePair(pair, *evidence);
}

bool NetworkingRule::Awaited(int worker) const {
  return waits_outside_.contains(worker) || may_wait_outside_.contains(worker) ||
         StateOf(worker) == SliceState::kWaitsOutside;
}

bool NetworkingRule::AreAtTransfer(const WorkerPair& pair) const {
  if (waits_outside_.contains(pair.first) || waits_outside_.contains(pair.second)) return true;
  const SliceView& own = c_.graph.slices[static_cast<size_t>(c_.worker(pair.first).slice)];
  const SliceView& other = c_.graph.slices[static_cast<size_t>(c_.worker(pair.second).slice)];
  if (&own == &other || own.crowd_place < 0 || own.crowd_place != other.crowd_place) return false;
  return c_.positions.place(own.crowd_place).hlo_class == HloClass::kCrossWait &&
         std::none_of(c_.graph.slices.begin(), c_.graph.slices.end(), [&](const SliceView& view) {
           return &view != &own && &view != &other && view.crowd_place == own.crowd_place;
         });
}

void NetworkingRule::TakeCut(std::map<WorkerPair, const PairEvidence*>& open) {
  const std::optional<NetworkCut> cut = FindNetworkCut(c_, links_, open);
  if (!cut.has_value()) return;
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnPartition;
  const std::vector<int>& smaller = cut->sides.front();
  finding.evidence.push_back(
      Evidence(c_, Strength::kStrong, SetsCut{&smaller, &cut->sides.back()}));
  const std::string text = finding.evidence.front().statement;
  bool awaited = false;
  bool sent = false;
  std::set<int> ends;
  for (const WorkerPair& pair : cut->pairs) {
    const PairEvidence& evidence = *open.at(pair);
    if (finding.evidence.size() < kMaxEvidence) {
      AddLink(pair, evidence, finding);
    } else {
      const size_t kept = finding.evidence.size();
      AddLink(pair, evidence, finding);
      finding.evidence.resize(kept);
    }
    awaited = awaited || Awaited(pair.first) || Awaited(pair.second);
    sent = sent || !evidence.unacked.empty() || evidence.failed_probe.size() == 2;
    ends.insert({pair.first, pair.second});
    open.erase(pair);
  }
  for (int worker : smaller) {
    if (finding.culprits.size() == kDivergedCulprits) break;
    if (!ends.contains(worker)) continue;
    finding.culprits.push_back(CulpritWorker(c_, worker, text));
  }
  for (size_t side = 0; side < cut->sides.size(); ++side) {
    for (int worker : cut->sides[side]) {
      finding.partition[side].push_back(c_.worker(worker).id);
    }
  }
  finding.confidence = awaited && sent ? kConfidenceNetworkHost : kConfidenceLinkUnawaited;
  finding.own = awaited && sent;
  Finish(finding, text);
  out_.Add(std::move(finding));
}

void NetworkingRule::TakeHosts(std::map<WorkerPair, const PairEvidence*>& open) {
  std::set<WorkerPair> lost;
  for (const auto& [pair, evidence] : open) {
    if (IsLostProbe(pair, *evidence)) lost.insert(pair);
  }
  TakeHostsOf(false, lost, open);
  TakeHostsWithoutCarrier(open);
  TakeHostsOf(true, lost, open);
}

void NetworkingRule::TakeHostsOf(bool lost_probes, const std::set<WorkerPair>& lost,
                                 std::map<WorkerPair, const PairEvidence*>& open) {
  while (true) {
    std::map<int, int> degree;
    for (const auto& [pair, evidence] : open) {
      if (lost.contains(pair) != lost_probes) continue;
      ++degree[pair.first];
      ++degree[pair.second];
    }
    int worst = -1;
    int most = 1;
    for (const auto& [worker, count] : degree) {
      if (count > most) {
        worst = worker;
        most = count;
      }
    }
    if (worst < 0) return;
    TakeHost(worst, open);
  }
}

void NetworkingRule::TakeHostsWithoutCarrier(std::map<WorkerPair, const PairEvidence*>& open) {
  const auto pairs = open;
  for (const auto& [pair, evidence] : pairs) {
    if (!open.contains(pair)) continue;
    const bool first_down = CarrierDown(pair.first, evidence->bad_nics);
    const bool second_down = CarrierDown(pair.second, evidence->bad_nics);
    if (first_down != second_down) TakeHost(first_down ? pair.first : pair.second, open);
  }
}

bool NetworkingRule::CarrierDown(int worker, const std::set<std::string>& nics) const {
  for (const Nic& nic : c_.worker(worker).snapshot->nics) {
    if (!nic.up && (nics.empty() || nics.contains(nic.name))) return true;
  }
  return false;
}

void NetworkingRule::TakeHost(int worker, std::map<WorkerPair, const PairEvidence*>& open) {
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnHost;
  std::set<int> peers;
  std::set<int> agreeing;  // peers whose own probes fail
  std::set<std::string> bad;
  std::set<std::string> good;
  size_t strays = 0;
  bool awaited = Awaited(worker);
  for (auto it = open.begin(); it != open.end();) {
    const auto& [pair, evidence] = *it;
    if (pair.first != worker && pair.second != worker) {
      ++it;
      continue;
    }
    const int peer = pair.first == worker ? pair.second : pair.first;
    peers.insert(peer);
    if (evidence->failed_probe.contains(peer)) agreeing.insert(peer);
    bad.insert(evidence->bad_nics.begin(), evidence->bad_nics.end());
    good.insert(evidence->good_nics.begin(), evidence->good_nics.end());
    strays += IsStray(*evidence) ? 1 : 0;
    awaited = awaited || Awaited(peer) || MayBeAtTransfer(pair);
    AddLink(pair, *evidence, finding);
    it = open.erase(it);
  }
  const std::optional<std::string> nic = NicAtFault(c_, worker, bad, good);
  const bool bad_is_down = CarrierDown(worker, bad);
  const HostCutOff fact{worker, nic, {peers.begin(), peers.end()}};
  const std::string text = FactText(c_, fact);
  Culprit culprit = CulpritWorker(c_, worker, text);
  culprit.nic = nic;
  finding.culprits.push_back(std::move(culprit));
  finding.evidence.insert(finding.evidence.begin(), Evidence(c_, Strength::kStrong, fact));
  // Failed probes by peers without traffic do not contradict traffic that arrives.
  const bool delivers = links_.delivers[static_cast<size_t>(worker)];
  // Probes that are lost by chance may have an end in common.
  const bool chance = strays == peers.size() && !bad_is_down &&
                      (peers.size() == 2 || IsReached(worker, OnlyOf(bad)));
  finding.confidence = chance && !waits_outside_.contains(worker) ? kConfidenceStrayProbe
                       : awaited && !delivers && !chance          ? kConfidenceNetworkHost
                                                                  : kConfidenceLinkUnawaited;
  Finish(finding, text);
  if (!delivers) JudgeRemoval(worker, nic, peers, agreeing, finding);
  hosts_.push_back(std::move(finding));
}

void NetworkingRule::JudgeRemoval(int worker, const std::optional<std::string>& nic,
                                  const std::set<int>& peers, const std::set<int>& agreeing,
                                  Finding& finding) const {
  std::set<int> witnesses;
  std::set<int> probing;
  const WorkerId id = c_.worker(worker).id;
  for (int peer = 0; peer < static_cast<int>(c_.topology.workers().size()); ++peer) {
    const Snapshot* snapshot = c_.worker(peer).snapshot;
    if (snapshot == nullptr || peer == worker) continue;
    if (std::any_of(snapshot->probes.begin(), snapshot->probes.end(),
                    [&](const Probe& probe) { return probe.peer == id; })) {
      probing.insert(peer);
    }
  }
  for (int peer : agreeing) {
    const auto& reached = links_.reached_peers[static_cast<size_t>(peer)];
    if (std::any_of(reached.begin(), reached.end(), [&](int r) { return r != worker; })) {
      witnesses.insert(peer);
    }
  }
  const size_t needed = std::min(kAgreeingPeers, probing.size());
  if (needed == 0 || witnesses.size() < needed || !OwnSideShows(worker, nic, peers)) return;
  if (IsReached(worker, nic) || AnotherMayBeCutOff(worker) || AllIsAcknowledged(worker)) return;
  // A single witness can be the end that is broken; peers that reached it over
  // the same NIC speak for the host.
  if (probing.size() < 2) return;
  const WorkerInfo& info = c_.worker(worker);
  finding.removable.push_back({std::string(info.host), info.node, nic, std::nullopt});
  const PeersAgree fact{worker, static_cast<int64_t>(witnesses.size())};
  finding.removal_reason = FactText(c_, fact);
}

bool NetworkingRule::OwnSideShows(int worker, const std::optional<std::string>& nic,
                                  const std::set<int>& peers) const {
  if (CarrierDown(worker, nic ? std::set{*nic} : std::set<std::string>{})) return true;
  bool own_side = false;
  bool held = false;
  for (int peer : peers) {
    const PairEvidence& evidence = links_.pairs.at(std::minmax(worker, peer));
    own_side =
        own_side || evidence.failed_probe.contains(worker) || evidence.unacked.contains(worker);
    held = held || !evidence.unacked.empty();
  }
  return own_side && held;
}

bool NetworkingRule::IsReached(int worker, const std::optional<std::string>& nic) const {
  const WorkerId id = c_.worker(worker).id;
  const auto passes = [&](const Probe& probe) {
    return probe.ok && (!nic.has_value() || !probe.nic.has_value() || probe.nic == nic);
  };
  return std::any_of(c_.topology.workers().begin(), c_.topology.workers().end(),
                     [&](const WorkerInfo& one) {
                       if (one.snapshot == nullptr) return false;
                       return std::any_of(one.snapshot->probes.begin(), one.snapshot->probes.end(),
                                          [&](const Probe& probe) {
                                            const bool own = one.id == id || probe.peer == id;
                                            return own && passes(probe);
                                          });
                     });
}

bool NetworkingRule::AnotherMayBeCutOff(int worker) const {
  const auto other = [worker](int peer) { return peer != worker; };
  // Workers in probes between others. That connections of such a worker hold no bytes shows only
  // that nothing was sent, if no probe gets through.
  std::vector<bool> probed(c_.topology.workers().size(), false);
  for (int i = 0; i < static_cast<int>(probed.size()); ++i) {
    const Snapshot* snapshot = c_.worker(i).snapshot;
    if (snapshot == nullptr || i == worker) continue;
    for (const Probe& probe : snapshot->probes) {
      const int peer = c_.topology.Find(probe.peer);
      if (peer < 0 || peer == worker) continue;
      probed[static_cast<size_t>(i)] = true;
      probed[static_cast<size_t>(peer)] = true;
    }
  }
  const bool without_carrier = CarrierDown(worker, {});
  for (int i = 0; i < static_cast<int>(probed.size()); ++i) {
    const auto n = static_cast<size_t>(i);
    const bool missing = c_.worker(i).snapshot == nullptr;
    if (i == worker || (!missing && !probed[n])) continue;
    // A switch that fails takes the carrier from all NICs at its ports.
    if (!missing && without_carrier && !CarrierDown(i, {})) continue;
    const std::vector<int>& broken = links_.broken_peers[n];
    const std::vector<int>& reached = links_.reached_peers[n];
    if (missing && std::any_of(broken.begin(), broken.end(), other)) return true;
    if (std::none_of(reached.begin(), reached.end(), other)) return true;
  }
  return false;
}

bool NetworkingRule::AllIsAcknowledged(int worker) const {
  for (int peer : links_.broken_peers[static_cast<size_t>(worker)]) {
    if (!links_.pairs.at(std::minmax(worker, peer)).unacked.empty()) return false;
  }
  const std::vector<Socket>& sockets = c_.worker(worker).snapshot->sockets;
  return !sockets.empty() && std::all_of(sockets.begin(), sockets.end(), [](const Socket& socket) {
    return socket.state == SocketState::kEstablished && socket.unacked_bytes == 0;
  });
}

void NetworkingRule::TakePair(const WorkerPair& pair, const PairEvidence& evidence) {
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnLink;
  const std::string text = AddLink(pair, evidence, finding);
  for (int worker : {pair.first, pair.second}) {
    Culprit culprit = CulpritWorker(c_, worker, text);
    culprit.nic = evidence.OnlyNic();
    finding.culprits.push_back(std::move(culprit));
  }
  std::set<int> seen_by = evidence.failed_probe;
  seen_by.insert(evidence.unacked.begin(), evidence.unacked.end());
  // A lone core may stand for another reason: then both ends have to show that nothing gets
  // through.
  const bool shown = !evidence.unacked.empty() || evidence.failed_probe.size() == 2;
  const bool awaited =
      Awaited(pair.first) || Awaited(pair.second) || (shown && MayBeAtTransfer(pair));
  if (IsStray(evidence)) {
    finding.confidence =
        AreAtTransfer(pair) && Exchange(pair) ? kConfidenceLinkUnawaited : kConfidenceStrayProbe;
  } else if (!Exchange(pair) && evidence.unacked.empty() && evidence.pending.empty()) {
    finding.confidence = kConfidenceStrayProbe;  // whatever they wait for, it is not this path
  } else if (!awaited) {
    finding.confidence = kConfidenceLinkUnawaited;
  } else {
    // Beside a host that is cut off, probes that fail between others are more likely lost.
    const bool beside_host = !hosts_.empty() && evidence.unacked.empty();
    const bool both = seen_by.size() >= 2 && !beside_host;
    finding.confidence = both ? kConfidenceLinkBothEnds : kConfidenceLinkOneEnd;
    // Unacknowledged bytes while probes pass can mean a reader that stands.
    const bool reader_stands = evidence.failed_probe.empty() && !evidence.good_nics.empty();
    if (reader_stands) finding.confidence -= kConfidenceLoopPenalty;
    finding.own = both && !reader_stands;
  }
  Finish(finding, text);
  out_.Add(std::move(finding));
}

bool NetworkingRule::IsStray(const PairEvidence& evidence) {
  return evidence.failed_probe.size() == 1 && evidence.unacked.empty() && evidence.gone.empty() &&
         evidence.pending.empty();
}

bool NetworkingRule::IsLostProbe(const WorkerPair& pair, const PairEvidence& evidence) const {
  if (!IsStray(evidence) || !links_.Reached(pair.first, pair.second)) return false;
  const auto fails_elsewhere = [&](int worker) {
    const std::vector<int>& peers = links_.broken_peers[static_cast<size_t>(worker)];
    return std::any_of(peers.begin(), peers.end(), [&](int peer) {
      const PairEvidence& other = links_.pairs.at(std::minmax(worker, peer));
      return !IsStray(other) && !evidence.bad_nics.empty() && other.bad_nics == evidence.bad_nics;
    });
  };
  return !fails_elsewhere(pair.first) && !fails_elsewhere(pair.second);
}

bool NetworkingRule::Exchange(const WorkerPair& pair) const {
  const WorkerInfo& a = c_.worker(pair.first);
  const WorkerInfo& b = c_.worker(pair.second);
  if (a.slice == b.slice) return false;
  const auto connects = [](const WorkerInfo& one, const WorkerInfo& other) {
    return std::any_of(one.snapshot->sockets.begin(), one.snapshot->sockets.end(),
                       [&](const Socket& socket) { return socket.peer == other.id; });
  };
  return a.id.task == b.id.task || connects(a, b) || connects(b, a);
}

std::string NetworkingRule::AddLink(const WorkerPair& pair, const PairEvidence& evidence,
                                    Finding& finding) const {
  const EvidenceItem item = Evidence(c_, Strength::kStrong, PairBroken{pair, &evidence});
  BrokenLink link;
  link.from = c_.worker(pair.first).id;
  link.to = c_.worker(pair.second).id;
  link.nic = evidence.OnlyNic();
  link.why = item.statement;
  finding.links.push_back(std::move(link));
  finding.evidence.push_back(item);
  return item.statement;
}

void NetworkingRule::Finish(Finding& finding, const std::string& text) {
  for (const Culprit& culprit : finding.culprits) {
    const int worker = c_.topology.Find(culprit.worker);
    for (const LogEvent& event : c_.worker(worker).snapshot->log_events) {
      if (event.kind != LogKind::kNicFault) continue;
      finding.evidence.push_back(
          Evidence(c_, Strength::kWeak, Words{worker, event.text, Said::kLogged}));
      break;
    }
  }
  for (const Head& head : c_.graph.heads) {
    if (head.kind != HeadKind::kCrossWait && !head.whole_host) continue;
    if (finding.evidence.size() >= kMaxEvidence) break;
    if (c_.PlaceOf(head) == nullptr) continue;
    finding.evidence.push_back(Evidence(c_, Strength::kStrong, HostStandsAt{&head}));
  }
  finding.explains = c_.graph.waiting;
  finding.why = text;
}

void NetworkingRule::HostByCarrier(int worker) {
  std::set<std::string> down;
  bool other_up = false;
  for (const Nic& nic : c_.worker(worker).snapshot->nics) {
    if (!nic.up) down.insert(nic.name);
    other_up = other_up || nic.up;
  }
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnHost;
  finding.confidence = kConfidenceCarrierByPlace;
  Culprit& culprit = Accuse(c_, Strength::kStrong, NoCarrier{worker, *down.begin()}, finding);
  if (down.size() == 1 && other_up) culprit.nic = *down.begin();
  Finish(finding, std::string(culprit.why));
  out_.items.push_back(std::move(finding));
}

void NetworkingRule::ByPlaceAlone() {
  std::vector<int> dark;
  for (int worker : waits_outside_) {
    if (CarrierDown(worker, {})) dark.push_back(worker);
  }
  if (dark.size() == 1) {
    HostByCarrier(dark.front());
    return;
  }
  if (waits_outside_.size() != 2 || !may_wait_outside_.empty()) {
    if (!waits_outside_.empty()) {
      out_.Note(c_, LinkRejected{NoBrokenLink::kNoFault});
    }
    return;
  }
  const int a = *waits_outside_.begin();
  const int b = *waits_outside_.rbegin();
  if (c_.worker(a).slice == c_.worker(b).slice) return;
  // Both can wait for a third host that reports nothing.
  if (c_.worker(a).id.task != c_.worker(b).id.task || HasBlindPeer(a)) {
    out_.Note(c_, LinkRejected{NoBrokenLink::kThirdHost});
    return;
  }
  // Probes that pass speak against a broken link.
  if (links_.Reached(a, b)) {
    out_.Note(c_, LinkRejected{NoBrokenLink::kReachedOther});
    return;
  }
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnLink;
  finding.confidence = kConfidenceLinkByPlace;
  const std::string text = FactText(c_, AwaitEachOther{a, b});
  BrokenLink link;
  link.from = c_.worker(a).id;
  link.to = c_.worker(b).id;
  link.why = text;
  finding.links.push_back(std::move(link));
  for (int worker : {a, b}) finding.culprits.push_back(CulpritWorker(c_, worker, text));
  Finish(finding, text);
  out_.Add(std::move(finding));
}

bool NetworkingRule::HasBlindPeer(int worker) const {
  for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) {
    const auto [first, last] = c_.positions.UnitsOf(i);
    if (c_.worker(i).standby || c_.worker(i).id.task != c_.worker(worker).id.task) continue;
    if (first == last) return true;
  }
  return false;
}

}  // namespace

void FindNetworking(const Case& c, Findings& out) { NetworkingRule(c, out).Apply(); }

}  // namespace rapideye::classifier

#include "classifier/decision/chain_builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "classifier/decision/chain_groups.h"
#include "classifier/host/host_place.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

// The chain states where the main threads of a group of heads stand if they all stand alike. It
// reads the stacks of so many of them.
constexpr size_t kHostPlacesRead = 64;
constexpr size_t kMaxHeadGroups = 12;

class ChainBuilder {
 public:
  ChainBuilder(const Case& c, const Verdict& verdict)
      : c_(c), verdict_(verdict), frame_(FrameOf(verdict)) {}

  WaitChain Build();

 private:
  // Keeps the largest groups, heads before all others.
  void Fold(std::vector<MemberGroup> groups);

  static std::pair<int64_t, size_t> Size(const MemberGroup& group) {
    return {group.members.cores, group.members.workers.size()};
  }

  static bool Meet(const MemberGroup& a, const MemberGroup& b);
  void Link(size_t from, size_t to, WaitEdgeKind kind);
  void Connect();

  // Links the crowd to an end directly, unless the crowd waits for a group that waits for that end.
  void ConnectCrowd(size_t crowd);
  bool IsAwaitedBy(size_t to, size_t from) const;

  // The larger side against each group of the smaller; of two equal ones the first.
  void ConnectSides();
  void ConnectBrokenLinks();

  // The largest of the groups that wait in a slice that holds an end of the chain.
  std::optional<size_t> FindCrowd() const;

  static bool Waits(WaitKind wait) {
    return wait != WaitKind::kIdle && wait != WaitKind::kOwnHost && wait != WaitKind::kCompute;
  }

  // How a group that meets `end` in its slice, or does not, depends on it.
  WaitEdgeKind KindTo(const MemberGroup& end, bool same_slice) const;

  // The ends in the slices of the group; if there are none, all ends that are culprits. The far end
  // of a broken link counts only if it stands at a transfer, where it waits for the culprit's end.
  std::vector<size_t> EndsFor(const MemberGroup& group) const;
  void LinkToEnds(size_t from, bool across);
  void ConnectCores(size_t i);
  void ConnectAfter(size_t i);

  // Most of a slice waits further on for the mates of the head, and these wait for the head.
  void ConnectHome(size_t i);
  bool EndsStandAtTransfers() const;
  void ConnectAway(size_t i);
  void ConnectWorkers(size_t i);

  // Steps from each group to the nearest end of the chain; absent: no edge leads to an end.
  std::vector<std::optional<int>> Distances() const;
  WaitChain Tell();
  ChainGroup TellGroup(const MemberGroup& group) const;
  void TellPlace(const ChainKey& key, ChainGroup& told) const;
  std::vector<std::string> QueueOf(int unit) const;
  std::optional<std::string> SharedHostPlace(const std::vector<int>& workers) const;

  const Case& c_;
  const Verdict& verdict_;
  const ChainFrame frame_;
  std::vector<MemberGroup> groups_;
  std::vector<size_t> ends_;     // heads, and ends of broken links
  std::optional<size_t> crowd_;  // of the slices in home_
  WaitChain chain_;
};

WaitChain ChainBuilder::Build() {
  Fold(CollectGroups(c_, verdict_));
  Connect();
  return Tell();
}

void ChainBuilder::Fold(std::vector<MemberGroup> groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const MemberGroup& a, const MemberGroup& b) {
    if (a.key.head != b.key.head) return a.key.head;
    return Size(a) > Size(b);
  });
  size_t heads = 0;
  for (MemberGroup& group : groups) {
    heads += group.key.head ? 1 : 0;
    if (groups_.size() < kMaxChainGroups && (!group.key.head || heads <= kMaxHeadGroups)) {
      groups_.push_back(std::move(group));
      continue;
    }
    ++chain_.more_groups;
    chain_.more_cores += group.members.cores;
    chain_.more_workers += static_cast<int64_t>(group.members.workers.size());
  }
}

bool ChainBuilder::Meet(const MemberGroup& a, const MemberGroup& b) {
  return std::any_of(a.members.slices.begin(), a.members.slices.end(),
                     [&](int slice) { return b.members.slices.contains(slice); });
}

void ChainBuilder::Link(size_t from, size_t to, WaitEdgeKind kind) {
  if (from == to) return;
  const bool known =
      std::any_of(chain_.edges.begin(), chain_.edges.end(), [&](const ChainEdge& edge) {
        return (edge.from == from && edge.to == to) || (edge.from == to && edge.to == from);
      });
  if (!known) chain_.edges.push_back({from, to, kind});
}

void ChainBuilder::Connect() {
  for (size_t i = 0; i < groups_.size(); ++i) {
    const bool box = groups_[i].key.box != kNoBox;
    if (groups_[i].key.head || box) ends_.push_back(i);
  }
  if (std::none_of(groups_.begin(), groups_.end(),
                   [](const MemberGroup& group) { return group.key.head; })) {
    return;
  }
  if (frame_.diverged) {
    ConnectSides();
    return;
  }
  if (frame_.cut || !verdict_.links.empty()) ConnectBrokenLinks();
  crowd_ = FindCrowd();
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].key.head || groups_[i].key.box != kNoBox || i == crowd_) continue;
    if (groups_[i].members.core != nullptr) {
      ConnectCores(i);
    } else {
      ConnectWorkers(i);
    }
  }
  if (crowd_) ConnectCrowd(*crowd_);
}

void ChainBuilder::ConnectCrowd(size_t crowd) {
  if (groups_[crowd].key.wait == WaitKind::kSparseCore) {
    ConnectCores(crowd);
    return;
  }
  const bool across = groups_[crowd].key.wait == WaitKind::kTransfer && !EndsStandAtTransfers();
  for (const size_t end : EndsFor(groups_[crowd])) {
    const bool before = std::any_of(
        chain_.edges.begin(), chain_.edges.end(),
        [&](const ChainEdge& edge) { return edge.from == crowd && IsAwaitedBy(end, edge.to); });
    if (before) continue;
    const bool same_slice = !across && Meet(groups_[crowd], groups_[end]);
    Link(crowd, end, KindTo(groups_[end], same_slice));
  }
}

bool ChainBuilder::IsAwaitedBy(size_t to, size_t from) const {
  return std::any_of(chain_.edges.begin(), chain_.edges.end(), [&](const ChainEdge& edge) {
    return edge.from == from && edge.to == to && edge.kind != WaitEdgeKind::kBrokenLink;
  });
}

void ChainBuilder::ConnectSides() {
  std::optional<size_t> rest;
  for (size_t i = 0; i < groups_.size() && !rest; ++i) {
    if (!groups_[i].key.head && groups_[i].members.core != nullptr) rest = i;
  }
  for (const size_t head : ends_)
    Link(rest.value_or(ends_.front()), head, WaitEdgeKind::kDivergence);
}

void ChainBuilder::ConnectBrokenLinks() {
  if (frame_.cut) {
    if (ends_.size() >= 2) Link(ends_[1], ends_[0], WaitEdgeKind::kBrokenLink);
    return;
  }
  std::map<int, std::vector<size_t>> at;  // worker -> groups that are ends
  for (const size_t end : ends_) {
    for (const int worker : groups_[end].members.workers) at[worker].push_back(end);
  }
  for (const BrokenLink& link : verdict_.links) {
    const auto from = at.find(c_.topology.Find(link.from));
    const auto to = at.find(c_.topology.Find(link.to));
    if (from == at.end() || to == at.end()) continue;
    // The other end of the link waits for the culprit's end.
    size_t one = from->second.front();
    size_t other = to->second.front();
    if (groups_[one].key.head && !groups_[other].key.head) std::swap(one, other);
    Link(one, other, WaitEdgeKind::kBrokenLink);
  }
}

std::optional<size_t> ChainBuilder::FindCrowd() const {
  for (size_t i = 0; i < groups_.size(); ++i) {
    const MemberGroup& group = groups_[i];
    if (group.key.head || group.key.box != kNoBox || !group.key.home) continue;
    if (group.members.core != nullptr && Waits(group.key.wait)) return i;
  }
  return std::nullopt;
}

WaitEdgeKind ChainBuilder::KindTo(const MemberGroup& end, bool same_slice) const {
  switch (end.key.wait) {
    case WaitKind::kIdle:
      return WaitEdgeKind::kLaunch;
    case WaitKind::kOwnHost:
      return WaitEdgeKind::kInput;
    default:
      break;
  }
  return same_slice ? WaitEdgeKind::kCollective : WaitEdgeKind::kTransfer;
}

std::vector<size_t> ChainBuilder::EndsFor(const MemberGroup& group) const {
  std::vector<size_t> near;
  std::vector<size_t> heads;
  for (const size_t end : ends_) {
    if (!groups_[end].key.head && groups_[end].key.wait != WaitKind::kTransfer) continue;
    if (Meet(group, groups_[end])) near.push_back(end);
    if (groups_[end].key.head) heads.push_back(end);
  }
  return near.empty() ? heads : near;
}

void ChainBuilder::LinkToEnds(size_t from, bool across) {
  for (const size_t end : EndsFor(groups_[from])) {
    const bool same_slice = !across && Meet(groups_[from], groups_[end]);
    Link(from, end, KindTo(groups_[end], same_slice));
  }
}

void ChainBuilder::ConnectCores(size_t i) {
  const MemberGroup& group = groups_[i];
  const WaitKind wait = group.key.wait;
  if (wait == WaitKind::kIdle || wait == WaitKind::kOwnHost) {
    ConnectAfter(i);
  } else if (wait == WaitKind::kCompute) {
    return;
  } else if (wait == WaitKind::kSparseCore) {
    for (const size_t end : EndsFor(group)) Link(i, end, WaitEdgeKind::kSparseCore);
    if (crowd_ && *crowd_ != i) Link(*crowd_, i, WaitEdgeKind::kCollective);
  } else if (group.key.home) {
    ConnectHome(i);
  } else {
    ConnectAway(i);
  }
}

void ChainBuilder::ConnectAfter(size_t i) {
  if (crowd_) {
    Link(i, *crowd_, WaitEdgeKind::kAfter);
    return;
  }
  for (const size_t end : EndsFor(groups_[i])) Link(i, end, WaitEdgeKind::kAfter);
}

void ChainBuilder::ConnectHome(size_t i) {
  const MemberGroup& group = groups_[i];
  if (group.key.wait == WaitKind::kTransfer) {
    LinkToEnds(i, /*across=*/!EndsStandAtTransfers());
    return;
  }
  if (crowd_ && Meet(group, groups_[*crowd_])) {
    const auto& at = group.members.at;
    const auto& crowd_at = groups_[*crowd_].members.at;
    if (at && crowd_at && *at > *crowd_at) {
      Link(i, *crowd_, WaitEdgeKind::kCollective);
      return;
    }
    if (groups_[*crowd_].key.wait == WaitKind::kCollective) {
      Link(*crowd_, i, WaitEdgeKind::kCollective);
    }
  }
  LinkToEnds(i, /*across=*/false);
}

bool ChainBuilder::EndsStandAtTransfers() const {
  return std::any_of(ends_.begin(), ends_.end(),
                     [&](size_t end) { return groups_[end].key.wait == WaitKind::kTransfer; });
}

void ChainBuilder::ConnectAway(size_t i) {
  // In a slice that waits for another one, cores at a collective wait for cores at the transfer.
  if (groups_[i].key.wait == WaitKind::kCollective) {
    for (size_t j = 0; j < groups_.size(); ++j) {
      const bool outside = !groups_[j].key.home && groups_[j].key.wait == WaitKind::kTransfer;
      if (j == i || !outside || !Meet(groups_[i], groups_[j])) continue;
      Link(i, j, WaitEdgeKind::kCollective);
      return;
    }
  }
  if (crowd_) {
    Link(i, *crowd_, WaitEdgeKind::kTransfer);
    return;
  }
  LinkToEnds(i, /*across=*/true);
}

void ChainBuilder::ConnectWorkers(size_t i) {
  WaitEdgeKind kind = WaitEdgeKind::kHost;
  switch (groups_[i].key.wait) {
    case WaitKind::kHostWait:
      kind = frame_.starts ? WaitEdgeKind::kStartUp : WaitEdgeKind::kHost;
      break;
    case WaitKind::kStarting:
      kind = WaitEdgeKind::kStartUp;
      break;
    case WaitKind::kEnded:
      kind = WaitEdgeKind::kAfter;
      break;
    default:
      return;
  }
  for (const size_t end : ends_) {
    if (groups_[end].key.head) Link(i, end, kind);
  }
}

std::vector<std::optional<int>> ChainBuilder::Distances() const {
  std::vector<std::optional<int>> distance(groups_.size());
  std::vector<size_t> reached;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].key.head) continue;
    distance[i] = 0;
    reached.push_back(i);
  }
  for (size_t next = 0; next < reached.size(); ++next) {
    for (const ChainEdge& edge : chain_.edges) {
      if (edge.to != reached[next] || distance[edge.from]) continue;
      distance[edge.from] = *distance[edge.to] + 1;
      reached.push_back(edge.from);
    }
  }
  return distance;
}

WaitChain ChainBuilder::Tell() {
  const std::vector<std::optional<int>> distance = Distances();
  std::vector<size_t> order(groups_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto far = [&](size_t i) { return distance[i].value_or(std::numeric_limits<int>::max()); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return far(a) != far(b) ? far(a) > far(b) : Size(groups_[a]) > Size(groups_[b]);
  });
  std::vector<size_t> now(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    now[order[i]] = i;
    chain_.groups.push_back(TellGroup(groups_[order[i]]));
  }
  for (ChainEdge& edge : chain_.edges) {
    edge.from = now[edge.from];
    edge.to = now[edge.to];
  }
  std::sort(chain_.edges.begin(), chain_.edges.end(), [](const ChainEdge& a, const ChainEdge& b) {
    return std::tie(a.from, a.to, a.kind) < std::tie(b.from, b.to, b.kind);
  });
  return std::move(chain_);
}

ChainGroup ChainBuilder::TellGroup(const MemberGroup& group) const {
  const auto& [key, members] = group;
  ChainGroup told;
  told.wait = key.wait;
  told.head = key.head;
  told.cores = members.cores;
  for (const int worker : members.workers) told.workers.push_back(c_.worker(worker).id);
  if (members.cores == 1 && members.core != nullptr) {
    told.chip = members.core->chip;
    told.core_type = members.core->type;
    told.core_index = members.core->index;
  }
  TellPlace(key, told);
  if (frame_.diverged && members.first_unit >= 0) told.queue = QueueOf(members.first_unit);
  if (!key.host.empty()) {
    told.host_place = key.host;
  } else if (key.head) {
    told.host_place = SharedHostPlace(members.workers);
  }
  told.since_ms = members.since_ms;
  if (members.cores == 1 && members.first_unit >= 0) {
    const Unit& unit = c_.positions.unit(members.first_unit);
    if (IsMoving(unit)) told.loops_ms = unit.stuck_ms;
  }
  if (members.group && !members.groups_differ && key.wait == WaitKind::kCollective) {
    told.members = members.group->second;
  }
  return told;
}

void ChainBuilder::TellPlace(const ChainKey& key, ChainGroup& told) const {
  if (key.program >= 0) {
    const ProgramInfo& program = c_.topology.programs()[static_cast<size_t>(key.program)];
    if (!program.module.empty()) told.module = Quote(program.module);
    if (!program.fingerprint.empty()) told.fingerprint = Quote(program.fingerprint);
  }
  told.launch_id = key.launch;
  if (key.place < 0) return;
  const Place& place = c_.positions.place(key.place);
  told.tag = place.tag;
  told.pc = place.pc;
  if (!place.hlo.empty()) told.instruction = Quote(place.hlo);
}

std::vector<std::string> ChainBuilder::QueueOf(int unit) const {
  const Unit& u = c_.positions.unit(unit);
  std::vector<std::string> queue;
  for (const Launch& launch : c_.topology.Chain(u.worker, *u.core)) {
    if (queue.size() == kMaxChainQueue) break;
    queue.push_back(ProgramName(c_.topology, launch.program));
  }
  return queue;
}

std::optional<std::string> ChainBuilder::SharedHostPlace(const std::vector<int>& workers) const {
  std::optional<std::string> shared;
  if (workers.size() > kHostPlacesRead) return shared;
  for (const int worker : workers) {
    const Snapshot* snapshot = c_.worker(worker).snapshot;
    if (snapshot == nullptr) return std::nullopt;
    const std::optional<HostPlace> place = PlaceOfHost(*snapshot);
    if (!place || place->where.empty() || (shared && *shared != place->where)) {
      return std::nullopt;
    }
    shared = place->where;
  }
  return shared;
}

}  // namespace

WaitChain BuildChain(const Case& c, const Verdict& verdict) {
  return ChainBuilder(c, verdict).Build();
}

}  // namespace rapideye::classifier

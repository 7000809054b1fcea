#include "classifier/wait/wait_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/job/partners.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wait/chain_text.h"
#include "classifier/wait/group_chain.h"
#include "classifier/wait/slice_group.h"
#include "classifier/wait/slice_heads.h"
#include "classifier/wait/wavefront.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

bool WaitsOutsideWholly(const SliceGroup& group, const SliceView& view) {
  return view.state == SliceState::kWaitsOutside && group.clusters.size() == 1 &&
         group.idle.empty() && group.entry.empty() && group.unclear.empty();
}

// The shorter of two times, either of which may be unknown.
std::optional<int64_t> Shorter(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

// All other slices wait for another slice, and one host, which is a slice, is idle. The launches
// that it has run have sent their data, so the others wait for a launch that it never got. No
// order relates its last launch to their wait: it is another stage, or left another program.
void AddIdlePeer(const Topology& topology, const Positions& positions,
                 const std::vector<SliceGroup>& groups, WaitGraph& graph) {
  if (!graph.heads.empty() || groups.size() < 2) return;
  std::optional<size_t> idle;
  std::optional<int64_t> waited;  // the shortest time since one of the others ended a launch
  for (size_t s = 0; s < groups.size(); ++s) {
    if (groups[s].lacks_workers) return;
    if (graph.slices[s].state == SliceState::kIdle) {
      if (idle.has_value()) return;
      idle = s;
      continue;
    }
    if (!WaitsOutsideWholly(groups[s], graph.slices[s])) return;
    for (int unit : groups[s].clusters.front().units) {
      waited = Shorter(waited, positions.unit(unit).stuck_ms);
    }
  }
  if (!idle.has_value()) return;
  const SliceInfo& info = topology.slices()[*idle];
  if (info.last - info.first != 1) return;
  Head head;
  head.kind = HeadKind::kIdle;
  head.worker = info.first;
  head.units = groups[*idle].idle;
  for (int unit : head.units) {
    // The host has ended a launch since: the launch in which the others wait, or a later one.
    const std::optional<int64_t>& stuck = positions.unit(unit).stuck_ms;
    if (stuck && waited && *stuck + kAgeErrorMs < *waited) return;
  }
  head.at = positions.unit(head.units.front()).at;
  const auto [first, last] = positions.UnitsOf(info.first);
  head.whole_host = static_cast<int>(head.units.size()) == last - first;
  graph.heads.push_back(std::move(head));
  graph.slices[*idle].state = SliceState::kHeaded;
}

class WaitGraphBuilder {
 public:
  WaitGraphBuilder(const Topology& topology, const Positions& positions,
                   const Divergence& divergence)
      : topology_(topology), positions_(positions), divergence_(divergence) {}

  WaitGraph Build();

 private:
  int SliceOf(const Head& head) const { return topology_.worker(head.worker).slice; }

  using Seat = std::tuple<int32_t, std::optional<int32_t>, int32_t>;  // task, chip, index

  Seat SeatOf(int unit) const;

  // Without HLO, a cross-slice wait is still known by the other cores at the place: a whole
  // other slice stands there (a core that is broken has no such company), or the same seats of
  // another slice do: those wait for the seat of a third.
  void InferCrossWaits();

  // True if all units of each of its workers, two or more, stand there.
  bool WholeHosts(const Cluster& cluster) const;

  // True if another slice has the same seats, and no others, away from its largest cluster, at
  // several places: the others there and this cluster wait for one of these seats.
  static bool AwaitsSeats(size_t units, int place, const std::map<Seat, int>& theirs,
                          const std::vector<Seat>& seats);
  bool AwaitsSeats(const Cluster& cluster, size_t slice,
                   const std::vector<std::map<Seat, int>>& apart) const;

  // SparseCores carry collectives of their own: SparseCores at one place wait for each other or
  // for a core elsewhere. A SparseCore leads if it stands alone, and the TensorCore of its
  // chip waits for it.
  void FollowSparse(int slice, std::vector<Head>& heads, SliceView& view) const;

  // Of two SparseCores in one exchange, the one further on in its code waits: keeps the other.
  bool KeepEarlierOfPair(std::vector<int>& alone) const;

  // SparseCores at places with a single chip: those known not to wait, if there are any.
  std::vector<int> LoneSparseCores(int slice, bool& sure) const;

  // True if its TensorCore is at a wait for SparseCores, or at an unknown wait,
  // and no core of its slice is in an earlier launch.
  bool AwaitedByTensorCore(int sparse, const SliceView& view, const std::vector<Head>& heads) const;
  static bool IsHead(const std::vector<Head>& heads, int unit);
  Head SparseHead(int sparse) const;

  // A slice of one core has no peers that could wait for it. If that core computes
  // while every other slice waits for another slice, the others wait for that core.
  void AddLoneComputer();
  static bool ComputesAlone(const SliceGroup& group);

  // A slice in which no core runs leads if the others stand in a launch that it
  // never got, and no other head leads.
  void AddIdleSlices();

  // A host that has ended the last launch is idle, too. Drops idle hosts whose last launch is not
  // known, if every slice holds such a host or is idle, and two slices or more hold one.
  void DropFinished();

  // A whole host at an unknown place, while the host of the same task in another slice was never
  // given the launch of its own slice: the first host waits for the second.
  void FollowToIdle();

  // Cores exchange data with the core of the same task and chip in other slices. If
  // two such cores lead, and no evidence proves both, one waits for the other: the
  // core that is proved or is further behind leads.
  void ComparePeers();

  // True if the head surely waits for no core: its pc moves while others stand, or HLO shows it.
  static bool Proven(const Head& head);
  void WaitsForPeer(Head& head, std::string_view which);
  void ChooseAmong(const std::vector<size_t>& peers);

  // Drops heads that wait for an earlier head in another slice.
  void DropVictims();
  void Summarise();

  // The reason why a candidate is no head, or empty.
  std::string VictimBecause(const Head& head) const;

  // True if another slice has a head that is not idle, and not known to be later.
  bool HasBusyHead(const Head& idle) const;
  void Finish();
  void RecordUnitWaits();
  void RuleOut(std::string text);

  const Topology& topology_;
  const Positions& positions_;
  const Divergence& divergence_;
  std::vector<SliceGroup> groups_;
  std::optional<Partners> partners_;
  WaitGraph graph_;
  bool real_ = false;                     // some head is more than a wait for another slice
  std::map<int, int64_t> earliest_idle_;  // per cohort
  std::set<std::tuple<int, int, std::optional<int64_t>>> busy_;  // slice, cohort, at
  std::set<int> proven_slices_;
};

WaitGraph WaitGraphBuilder::Build() {
  const int slices = static_cast<int>(topology_.slices().size());
  groups_.reserve(static_cast<size_t>(slices));
  for (int s = 0; s < slices; ++s) {
    groups_.push_back(BuildSliceGroup(topology_, positions_, divergence_, s));
  }
  InferCrossWaits();
  partners_.emplace(topology_, positions_);
  for (int s = 0; s < slices; ++s) {
    SliceView view;
    std::vector<Head> heads =
        HeadsOfSliceGroup(positions_, groups_[static_cast<size_t>(s)], view, graph_.ahead_of_all);
    FollowGroups({topology_, positions_, divergence_, *partners_}, groups_[static_cast<size_t>(s)],
                 heads, view, graph_.reasons);
    FollowSparse(s, heads, view);
    graph_.slices.push_back(view);
    for (Head& head : heads) graph_.heads.push_back(std::move(head));
  }
  AddLoneComputer();
  AddIdleSlices();
  if (divergence_.foreign.empty()) AddIdlePeer(topology_, positions_, groups_, graph_);
  FollowToIdle();
  DropFinished();
  ComparePeers();
  DropVictims();
  Finish();
  return std::move(graph_);
}

WaitGraphBuilder::Seat WaitGraphBuilder::SeatOf(int unit) const {
  const Unit& u = positions_.unit(unit);
  return {topology_.worker(u.worker).id.task, u.core->chip, u.core->index};
}

void WaitGraphBuilder::InferCrossWaits() {
  std::map<int, std::set<int>> uniform;                 // place -> slices
  std::map<std::pair<int, Seat>, std::set<int>> seats;  // place, seat -> slices
  // By slice, the place of each seat away from the slice's largest cluster.
  std::vector<std::map<Seat, int>> apart(groups_.size());
  for (size_t s = 0; s < groups_.size(); ++s) {
    const SliceGroup& group = groups_[s];
    if (group.clusters.size() == 1 && group.running >= 2) {
      uniform[group.clusters.front().place].insert(static_cast<int>(s));
    }
    for (size_t i = 1; i < group.clusters.size(); ++i) {
      for (int unit : group.clusters[i].units) {
        seats[{group.clusters[i].place, SeatOf(unit)}].insert(static_cast<int>(s));
        apart[s][SeatOf(unit)] = group.clusters[i].place;
      }
    }
  }
  for (size_t s = 0; s < groups_.size(); ++s) {
    SliceGroup& group = groups_[s];
    for (size_t i = 1; i < group.clusters.size(); ++i) {
      Cluster& cluster = group.clusters[i];
      if (cluster.hlo_class != HloClass::kUnknown) continue;
      // If no slice is left for which they could wait, these seats wait for each other.
      const bool hosts = WholeHosts(cluster);
      const bool peers = std::all_of(cluster.units.begin(), cluster.units.end(), [&](int unit) {
        const size_t there = seats[{cluster.place, SeatOf(unit)}].size();
        return there >= 2 && (hosts || there < groups_.size());
      });
      if (uniform.contains(cluster.place) || peers || AwaitsSeats(cluster, s, apart)) {
        cluster.hlo_class = HloClass::kCrossWait;
      }
    }
  }
}

bool WaitGraphBuilder::WholeHosts(const Cluster& cluster) const {
  std::map<int, int> count;
  for (int unit : cluster.units) ++count[positions_.unit(unit).worker];
  return std::all_of(count.begin(), count.end(), [&](const auto& entry) {
    const auto [first, last] = positions_.UnitsOf(entry.first);
    return last - first >= 2 && entry.second == last - first;
  });
}

bool WaitGraphBuilder::AwaitsSeats(size_t units, int place, const std::map<Seat, int>& theirs,
                                   const std::vector<Seat>& seats) {
  if (theirs.size() != units) return false;
  std::set<int> places;
  for (const Seat& seat : seats) {
    const auto it = theirs.find(seat);
    if (it == theirs.end() || it->second == place) return false;
    places.insert(it->second);
  }
  return places.size() >= 2;
}

bool WaitGraphBuilder::AwaitsSeats(const Cluster& cluster, size_t slice,
                                   const std::vector<std::map<Seat, int>>& apart) const {
  if (cluster.units.size() < 2) return false;
  std::vector<Seat> seats;
  for (int unit : cluster.units) seats.push_back(SeatOf(unit));
  for (size_t s = 0; s < apart.size(); ++s) {
    if (s != slice && AwaitsSeats(seats.size(), cluster.place, apart[s], seats)) return true;
  }
  return false;
}

void WaitGraphBuilder::FollowSparse(int slice, std::vector<Head>& heads, SliceView& view) const {
  if (std::any_of(heads.begin(), heads.end(), Proven)) {
    std::erase_if(heads, [](const Head& head) { return head.kind == HeadKind::kSparse; });
    return;
  }
  bool sure = false;
  std::vector<int> alone = LoneSparseCores(slice, sure);
  std::erase_if(alone, [&](int i) { return !AwaitedByTensorCore(i, view, heads); });
  // A SparseCore at an unknown place may wait for those of a host that never got the launch.
  const auto owed = [](const Head& head) { return head.kind == HeadKind::kIdle; };
  if (!sure && std::any_of(heads.begin(), heads.end(), owed)) alone.clear();
  const bool by_code = !sure && KeepEarlierOfPair(alone);
  if (alone.empty()) {
    size_t at_sparse = 0;
    for (const Head& head : heads) {
      if (head.kind == HeadKind::kSparse) at_sparse += head.units.size();
    }
    if (at_sparse > 1) {
      std::erase_if(heads, [](const Head& head) { return head.kind == HeadKind::kSparse; });
      if (heads.empty()) view.state = SliceState::kWaitsInside;
    }
    return;
  }
  std::erase_if(heads, [](const Head& head) {
    return head.kind == HeadKind::kSparse || head.kind == HeadKind::kLaggard ||
           head.kind == HeadKind::kElsewhere;
  });
  for (int i : alone) {
    heads.push_back(SparseHead(i));
    heads.back().or_mate = alone.size() > 1 && !sure;
    heads.back().ambiguous = by_code;
  }
  view.state = SliceState::kHeaded;
}

bool WaitGraphBuilder::KeepEarlierOfPair(std::vector<int>& alone) const {
  if (alone.size() != 2) return false;
  const auto place = [&](int i) -> const Place& {
    return positions_.place(positions_.sparse()[static_cast<size_t>(i)].place);
  };
  const Place& one = place(alone.front());
  const Place& other = place(alone.back());
  if (one.program < 0 || one.program != other.program || one.tag != other.tag) return false;
  alone = {one.pc < other.pc ? alone.front() : alone.back()};
  return true;
}

std::vector<int> WaitGraphBuilder::LoneSparseCores(int slice, bool& sure) const {
  const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
  std::map<int, std::vector<int>> stands;  // place -> SparseCores there
  for (int i = positions_.SparseOf(info.first).first; i < positions_.SparseOf(info.last - 1).second;
       ++i) {
    const SparseUnit& unit = positions_.sparse()[static_cast<size_t>(i)];
    if (divergence_.is_foreign[static_cast<size_t>(unit.worker)]) continue;
    stands[unit.place].push_back(i);
  }
  std::vector<int> computing;
  std::vector<int> unknown;
  for (const auto& [place, cores] : stands) {
    const SparseUnit& first = positions_.sparse()[static_cast<size_t>(cores.front())];
    const bool one_chip = std::all_of(cores.begin(), cores.end(), [&](int i) {
      const SparseUnit& unit = positions_.sparse()[static_cast<size_t>(i)];
      return unit.worker == first.worker && unit.core->chip == first.core->chip;
    });
    if (!one_chip) continue;
    switch (positions_.place(place).hlo_class) {
      case HloClass::kCompute:
      case HloClass::kKernel:
        computing.push_back(cores.front());
        break;
      case HloClass::kUnknown:
      case HloClass::kMaybeWait:
        unknown.push_back(cores.front());
        break;
      default:
        break;
    }
  }
  sure = !computing.empty();
  return sure ? computing : unknown;
}

bool WaitGraphBuilder::AwaitedByTensorCore(int sparse, const SliceView& view,
                                           const std::vector<Head>& heads) const {
  const SparseUnit& unit = positions_.sparse()[static_cast<size_t>(sparse)];
  const auto [first, last] = positions_.UnitsOf(unit.worker);
  const auto awaits = [&](int i) {
    const Unit& tensor = positions_.unit(i);
    if (tensor.core->chip != unit.core->chip || tensor.place < 0) return false;
    const bool same_launch = !tensor.core->launch_id || !unit.core->launch_id ||
                             tensor.core->launch_id == unit.core->launch_id;
    const bool earlier = std::any_of(heads.begin(), heads.end(), [&](const Head& head) {
      return head.at && tensor.at && *head.at < *tensor.at;
    });
    if (!same_launch || earlier) return false;
    switch (positions_.place(tensor.place).hlo_class) {
      case HloClass::kSparseWait:
      case HloClass::kUnknown:
      case HloClass::kMaybeWait:
        return true;
      case HloClass::kInSliceWait:
        // Apart from the others, or all are in the one collective that the SparseCores carry.
        return IsHead(heads, i) || tensor.place != view.crowd_place ||
               (heads.empty() && view.cluster == view.running);
      default:
        return false;
    }
  };
  // Of the TensorCores of a chip that are devices of their own, one waits.
  for (int i = first; i < last; ++i) {
    if (awaits(i)) return true;
  }
  return false;
}

bool WaitGraphBuilder::IsHead(const std::vector<Head>& heads, int unit) {
  return std::any_of(heads.begin(), heads.end(), [&](const Head& head) {
    return std::find(head.units.begin(), head.units.end(), unit) != head.units.end();
  });
}

Head WaitGraphBuilder::SparseHead(int sparse) const {
  const SparseUnit& unit = positions_.sparse()[static_cast<size_t>(sparse)];
  Head head;
  head.kind = HeadKind::kSparse;
  head.worker = unit.worker;
  head.sparse = sparse;
  head.place = unit.place;
  const auto [first, last] = positions_.UnitsOf(unit.worker);
  for (int i = first; i < last; ++i) {
    if (positions_.unit(i).core->chip != unit.core->chip) continue;
    head.units.push_back(i);
    head.at = positions_.unit(i).at;
  }
  return head;
}

void WaitGraphBuilder::AddLoneComputer() {
  if (std::any_of(graph_.heads.begin(), graph_.heads.end(),
                  [](const Head& head) { return head.kind != HeadKind::kCrossWait; })) {
    return;
  }
  int lone = -1;
  for (size_t s = 0; s < groups_.size(); ++s) {
    const SliceInfo& info = topology_.slices()[s];
    for (int worker = info.first; worker < info.last; ++worker) {
      if (topology_.worker(worker).snapshot == nullptr) return;  // it may be at fault
    }
    if (WaitsOutsideWholly(groups_[s], graph_.slices[s])) continue;
    if (lone >= 0 || !ComputesAlone(groups_[s])) return;
    lone = static_cast<int>(s);
  }
  if (lone < 0 || groups_.size() < 2) return;
  const int unit = groups_[static_cast<size_t>(lone)].clusters.front().units.front();
  const Unit& computer = positions_.unit(unit);
  // A unit in an earlier launch has received all data that this core could owe it.
  for (const Unit& other : positions_.units()) {
    const bool comparable =
        other.at && computer.at &&
        topology_.worker(other.worker).cohort == topology_.worker(computer.worker).cohort;
    if (comparable && *other.at < *computer.at) return;
  }
  Head head;
  head.kind = HeadKind::kCompute;
  head.worker = computer.worker;
  head.units = {unit};
  head.alone = true;
  head.moving = IsMoving(computer);
  head.place = computer.place;
  head.at = computer.at;
  graph_.heads.push_back(std::move(head));
  SliceView& view = graph_.slices[static_cast<size_t>(lone)];
  view.state = SliceState::kHeaded;
  view.cluster = 0;
}

bool WaitGraphBuilder::ComputesAlone(const SliceGroup& group) {
  return group.running == 1 &&
         (group.clusters.front().hlo_class == HloClass::kCompute ||
          group.clusters.front().hlo_class == HloClass::kKernel) &&
         group.idle.empty() && group.entry.empty() && group.unclear.empty();
}

void WaitGraphBuilder::AddIdleSlices() {
  if (!graph_.heads.empty()) return;
  std::map<int, int64_t> waits_in;  // cohort -> earliest launch with a wait
  for (const Unit& unit : positions_.units()) {
    if (unit.state != UnitState::kRunning || !unit.at) continue;
    const int cohort = topology_.worker(unit.worker).cohort;
    auto [it, added] = waits_in.try_emplace(cohort, *unit.at);
    if (!added) it->second = std::min(it->second, *unit.at);
  }
  for (size_t s = 0; s < groups_.size(); ++s) {
    if (graph_.slices[s].state != SliceState::kIdle) continue;
    std::map<int, Head> by_worker;
    for (int unit : groups_[s].idle) {
      const Unit& u = positions_.unit(unit);
      auto it = waits_in.find(topology_.worker(u.worker).cohort);
      if (it == waits_in.end() || !u.at || *u.at >= it->second) continue;
      Head& head = by_worker[u.worker];
      head.kind = HeadKind::kIdle;
      head.worker = u.worker;
      head.units.push_back(unit);
      head.behind = true;
      head.at = u.at;
    }
    if (by_worker.empty()) continue;
    graph_.slices[s].state = SliceState::kHeaded;
    for (auto& [worker, head] : by_worker) {
      const auto [first, last] = positions_.UnitsOf(worker);
      head.whole_host = static_cast<int>(head.units.size()) == last - first;
      graph_.heads.push_back(std::move(head));
    }
  }
}

void WaitGraphBuilder::DropFinished() {
  std::set<int> slices;
  for (const Head& head : graph_.heads) {
    if (head.kind == HeadKind::kIdle && !head.at) slices.insert(SliceOf(head));
  }
  if (slices.size() < 2 || slices.size() == graph_.slices.size()) return;
  for (int s = 0; s < static_cast<int>(graph_.slices.size()); ++s) {
    const bool idle = graph_.slices[static_cast<size_t>(s)].state == SliceState::kIdle;
    if (!slices.contains(s) && !idle) return;
  }
  std::erase_if(graph_.heads,
                [](const Head& head) { return head.kind == HeadKind::kIdle && !head.at; });
}

void WaitGraphBuilder::FollowToIdle() {
  std::set<std::pair<int32_t, int>> idle;  // task, slice
  for (const Head& head : graph_.heads) {
    if (head.kind == HeadKind::kIdle && head.whole_host) {
      idle.insert({topology_.worker(head.worker).id.task, SliceOf(head)});
    }
  }
  if (idle.empty()) return;
  for (Head& head : graph_.heads) {
    const bool loose = head.kind == HeadKind::kElsewhere && head.whole_host && !head.hlo_waits;
    if (!loose || positions_.place(head.place).hlo_class != HloClass::kUnknown) continue;
    const int32_t task = topology_.worker(head.worker).id.task;
    const bool peer = std::any_of(idle.begin(), idle.end(), [&](const auto& seat) {
      return seat.first == task && seat.second != SliceOf(head);
    });
    if (peer) WaitsForPeer(head, "which has nothing queued");
  }
}

void WaitGraphBuilder::ComparePeers() {
  std::map<Seat, std::vector<size_t>> seats;
  for (size_t i = 0; i < graph_.heads.size(); ++i) {
    const Head& head = graph_.heads[i];
    if (head.whole_host || head.units.size() != 1) continue;
    const Unit& unit = positions_.unit(head.units.front());
    if (!unit.core->chip.has_value() || unit.state != UnitState::kRunning) continue;
    seats[SeatOf(head.units.front())].push_back(i);
  }
  for (const auto& [seat, peers] : seats) {
    if (peers.size() >= 2) ChooseAmong(peers);
  }
}

bool WaitGraphBuilder::Proven(const Head& head) {
  return head.moving || head.kind == HeadKind::kCompute || head.kind == HeadKind::kInput ||
         (head.kind == HeadKind::kSparse && head.sparse >= 0);
}

void WaitGraphBuilder::WaitsForPeer(Head& head, std::string_view which) {
  head.kind = HeadKind::kCrossWait;
  RuleOut(absl::StrCat(HeadName(topology_, positions_, head),
                       " waits for its peer in another slice, ", std::string(which)));
}

void WaitGraphBuilder::ChooseAmong(const std::vector<size_t>& peers) {
  const bool proven =
      std::any_of(peers.begin(), peers.end(), [&](size_t i) { return Proven(graph_.heads[i]); });
  std::optional<int64_t> first;
  for (size_t i : peers) {
    const auto at = graph_.heads[i].at;
    if (at && (!first || *at < *first)) first = at;
  }
  const auto firsts = std::count_if(peers.begin(), peers.end(),
                                    [&](size_t i) { return graph_.heads[i].at == first; });
  // A candidate may provably have stopped before the others; it can have waited there already,
  // so it is no surer than before.
  const auto candidate = [&](const Head& head) {
    return head.at == first && head.kind != HeadKind::kCrossWait;
  };
  const auto stopped_later = [&](const Head& head) {
    return std::any_of(peers.begin(), peers.end(), [&](size_t i) {
      const Head& other = graph_.heads[i];
      return candidate(other) && StoppedBefore(*positions_.unit(other.units.front()).core,
                                               *positions_.unit(head.units.front()).core);
    });
  };
  int64_t candidates = 0;
  int64_t later = 0;
  for (size_t i : peers) {
    candidates += candidate(graph_.heads[i]) ? 1 : 0;
    later += candidate(graph_.heads[i]) && stopped_later(graph_.heads[i]) ? 1 : 0;
  }
  const bool front = later > 0 && later + 1 == candidates;
  for (size_t i : peers) {
    Head& head = graph_.heads[i];
    if (proven) {
      if (!Proven(head)) WaitsForPeer(head, "which is proved not to wait");
    } else if (head.at != first) {
      WaitsForPeer(head, "which is in an earlier launch");
    } else if (front && stopped_later(head)) {
      WaitsForPeer(head, "which stopped before it");
    } else {
      head.ambiguous = firsts > 1;
    }
  }
}

void WaitGraphBuilder::DropVictims() {
  Summarise();
  if (!real_) return;
  std::vector<Head> kept;
  for (Head& head : graph_.heads) {
    const std::string reason = VictimBecause(head);
    if (reason.empty()) {
      kept.push_back(std::move(head));
      continue;
    }
    if (head.kind == HeadKind::kIdle) graph_.victims_idle.push_back(head.worker);
    RuleOut(absl::StrCat(HeadName(topology_, positions_, head), " is a victim: ", reason));
  }
  graph_.heads = std::move(kept);
}

void WaitGraphBuilder::Summarise() {
  for (const Head& head : graph_.heads) {
    if (head.kind == HeadKind::kCrossWait) continue;
    real_ = true;
    const int cohort = topology_.worker(head.worker).cohort;
    if (head.kind == HeadKind::kIdle) {
      if (!head.at) continue;
      auto [it, added] = earliest_idle_.try_emplace(cohort, *head.at);
      if (!added) it->second = std::min(it->second, *head.at);
      continue;
    }
    busy_.insert({SliceOf(head), cohort, head.at});
    if (head.kind != HeadKind::kElsewhere) proven_slices_.insert(SliceOf(head));
  }
}

std::string WaitGraphBuilder::VictimBecause(const Head& head) const {
  if (head.kind == HeadKind::kCrossWait) {
    return "it waits for another slice, and another slice holds a head of its own";
  }
  if (head.kind == HeadKind::kIdle) {
    if (HasBusyHead(head)) {
      return "it has run out of queued work behind a core that stands earlier";
    }
    auto first = earliest_idle_.find(topology_.worker(head.worker).cohort);
    if (head.at && first != earliest_idle_.end() && *head.at > first->second) {
      return "others lack an earlier launch than the one it lacks";
    }
    return "";
  }
  // A whole host stands elsewhere, in a slice that can be waiting for another slice.
  const bool loose = head.kind == HeadKind::kElsewhere && head.whole_host;
  const bool other_slice = proven_slices_.size() > (proven_slices_.contains(SliceOf(head)) ? 1 : 0);
  if (loose && other_slice) {
    return "nothing proves that it does not wait, and another slice holds a head that does not";
  }
  return "";
}

bool WaitGraphBuilder::HasBusyHead(const Head& idle) const {
  return std::any_of(busy_.begin(), busy_.end(), [&](const auto& entry) {
    const auto& [slice, cohort, at] = entry;
    const bool comparable = at && idle.at && cohort == topology_.worker(idle.worker).cohort;
    return slice != SliceOf(idle) && (!comparable || *at < *idle.at);
  });
}

void WaitGraphBuilder::Finish() {
  std::sort(graph_.heads.begin(), graph_.heads.end(), [](const Head& a, const Head& b) {
    return std::tuple(a.worker, a.units) < std::tuple(b.worker, b.units);
  });
  int heads = 0;
  int running = 0;
  for (const Head& head : graph_.heads) {
    for (int unit : head.units) {
      if (positions_.unit(unit).state == UnitState::kRunning) ++heads;
    }
  }
  for (const SliceView& view : graph_.slices) running += view.running;
  graph_.units = static_cast<int>(positions_.units().size());
  RecordUnitWaits();
  graph_.waiting = std::max(0, running - heads);
  std::vector<Reason> reasons = TellChain(topology_, positions_, divergence_, graph_);
  for (Reason& reason : graph_.reasons) reasons.push_back(std::move(reason));
  graph_.reasons = std::move(reasons);
}

void WaitGraphBuilder::RecordUnitWaits() {
  graph_.unit_waits.resize(positions_.units().size());
  for (const SliceGroup& group : groups_) {
    for (const Cluster& cluster : group.clusters) {
      for (int unit : cluster.units) {
        UnitWait& wait = graph_.unit_waits[static_cast<size_t>(unit)];
        wait = {cluster.hlo_class, cluster.at, true};
        const DeviceGroup* group = partners_->GroupOf(unit);
        if (group == nullptr) continue;
        wait.group = group->devices.front();
        wait.members = static_cast<int>(group->devices.size());
      }
    }
  }
}

void WaitGraphBuilder::RuleOut(std::string text) {
  if (graph_.reasons.size() < kMaxChainLines) {
    graph_.reasons.push_back({"wait_graph", std::move(text), ReasonKind::kRuledOut});
  }
}

}  // namespace

WaitGraph BuildWaitGraph(const Topology& topology, const Positions& positions,
                         const Divergence& divergence) {
  return WaitGraphBuilder(topology, positions, divergence).Build();
}

}  // namespace rapideye::classifier

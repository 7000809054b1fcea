#include "classifier/slice_group.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

bool NeverWaits(HloClass hlo_class) {
  return hlo_class == HloClass::kCompute || hlo_class == HloClass::kInput;
}

// Relates the launches of one slice where the cohort's order does not: within one
// fingerprint by launch id, otherwise by what stands in whose queue. Zero is the
// launch the largest cluster is in.
class LocalOrder {
 public:
  LocalOrder(const Topology& topology, const Positions& positions, int crowd_unit)
      : topology_(topology),
        base_(topology.Chain(positions.unit(crowd_unit).worker, *positions.unit(crowd_unit).core)) {
  }

  std::optional<int64_t> At(const Unit& unit) const {
    const std::vector<Launch> chain = topology_.Chain(unit.worker, *unit.core);
    const Launch& own = chain.front();
    const int64_t after = unit.state == UnitState::kIdle ? 1 : 0;
    if (own.program < 0 || !own.id) return std::nullopt;
    for (size_t j = 0; j < base_.size(); ++j) {
      if (base_[j].program != own.program || !base_[j].id) continue;
      const int64_t distance = SerialDistance(*own.id, *base_[j].id);
      // Past this entry of the queue, at it, or at an instance already run.
      if (j == 0) return 2 * distance + after;
      return distance >= 0 ? 2 * static_cast<int64_t>(j) + after : -2 + after;
    }
    for (size_t j = 1; j < chain.size(); ++j) {
      if (chain[j].program != base_.front().program || !chain[j].id || !base_.front().id) continue;
      if (SerialDistance(*chain[j].id, *base_.front().id) <= 0) {
        return -2 * static_cast<int64_t>(j) + after;
      }
    }
    return std::nullopt;
  }

 private:
  const Topology& topology_;
  std::vector<Launch> base_;
};

// A core that reported no launch id, but stands where others of its slice stand,
// is taken to be in the launch most of them are in.
void InferLaunches(const Positions& positions, const std::vector<int>& running, SliceGroup& group) {
  std::map<int, std::map<int64_t, int>> known;  // place -> at -> units
  for (int i : running) {
    if (const auto at = group.AtOf(i)) ++known[positions.unit(i).place][*at];
  }
  for (int i : running) {
    auto it = known.find(positions.unit(i).place);
    if (group.AtOf(i).has_value() || positions.unit(i).core->launch_id.has_value() ||
        it == known.end()) {
      continue;
    }
    const auto most =
        std::max_element(it->second.begin(), it->second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    group.at[static_cast<size_t>(i - group.first_unit)] = most->first;
  }
}

using ClusterKey = std::pair<std::optional<int64_t>, int>;  // at, place

// The largest group; a tie goes to whoever can be waiting, then to whoever is
// further on, so that who moved on is not taken for who holds up.
std::tuple<bool, size_t, int, std::optional<int64_t>> ClusterRank(const Cluster& cluster) {
  const int patience = cluster.hlo_class == HloClass::kUnknown ? 0 : 1;
  return {!NeverWaits(cluster.hlo_class), cluster.units.size(), patience, cluster.at};
}

}  // namespace

SliceGroup BuildSliceGroup(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int slice) {
  const SliceInfo& info = topology.slices()[static_cast<size_t>(slice)];
  SliceGroup group;
  group.first_unit = positions.UnitsOf(info.first).first;
  const int last = positions.UnitsOf(info.last - 1).second;
  std::vector<int> running;
  std::map<std::tuple<int, std::optional<int32_t>, int>, int> stands;
  for (int i = group.first_unit; i < last; ++i) {
    const Unit& unit = positions.unit(i);
    group.at.push_back(unit.at);
    // Diverged workers are judged by what they run; spares belong to nobody's step.
    if (divergence.is_foreign[static_cast<size_t>(unit.worker)]) continue;
    if (!topology.worker(unit.worker).in_named_cohort) continue;
    switch (unit.state) {
      case UnitState::kRunning:
        running.push_back(i);
        ++stands[{unit.program, unit.core->launch_id, unit.place}];
        break;
      case UnitState::kIdle:
        group.idle.push_back(i);
        break;
      case UnitState::kEntry:
        group.entry.push_back(i);
        break;
      case UnitState::kUnclear:
        group.unclear.push_back(i);
        break;
    }
  }
  group.running = static_cast<int>(running.size());
  if (running.empty()) return group;

  int largest = -1;
  int largest_count = 0;
  for (int i : running) {
    const Unit& unit = positions.unit(i);
    const int count = stands[{unit.program, unit.core->launch_id, unit.place}];
    if (count > largest_count) {
      largest = i;
      largest_count = count;
    }
  }
  if (!positions.unit(largest).at.has_value()) {
    const LocalOrder local(topology, positions, largest);
    for (int i = group.first_unit; i < last; ++i) {
      group.at[static_cast<size_t>(i - group.first_unit)] = local.At(positions.unit(i));
    }
  }

  InferLaunches(positions, running, group);
  std::map<ClusterKey, Cluster> clusters;
  for (int i : running) {
    const Unit& unit = positions.unit(i);
    Cluster& cluster = clusters[{group.AtOf(i), unit.place}];
    cluster.at = group.AtOf(i);
    cluster.place = unit.place;
    cluster.hlo_class = positions.place(unit.place).hlo_class;
    cluster.units.push_back(i);
  }
  for (auto& [key, cluster] : clusters) group.clusters.push_back(std::move(cluster));
  std::stable_sort(
      group.clusters.begin(), group.clusters.end(),
      [](const Cluster& a, const Cluster& b) { return ClusterRank(a) > ClusterRank(b); });
  return group;
}

namespace {

class HeadFinder {
 public:
  HeadFinder(const Positions& positions, const SliceGroup& group)
      : positions_(positions), group_(group) {
    if (!group.clusters.empty()) largest_ = &group.clusters.front();
  }

  std::vector<Head> Read(SliceView& view, std::vector<int>& ahead) {
    view.running = group_.running;
    view.idle = static_cast<int>(group_.idle.size());
    if (largest_ == nullptr) {
      view.state = group_.idle.empty() ? SliceState::kEmpty : SliceState::kIdle;
      return {};
    }
    view.crowd_place = largest_->place;
    view.crowd_at = largest_->at;
    view.cluster = static_cast<int>(largest_->units.size());
    AddProven();
    AddEntry();
    const bool proven = !heads_.empty();
    AddIdle();
    AddLoose(proven);
    if (heads_.empty()) AddUnclear();
    AddCross();
    view.state = StateOfSlice();
    if (heads_.empty()) NoteAhead(ahead);
    return std::move(heads_);
  }

 private:
  bool Behind(std::optional<int64_t> at) const {
    return at.has_value() && largest_->at.has_value() && *at < *largest_->at;
  }

  // Splits units that lead for one reason by their workers.
  void Add(HeadKind kind, const std::vector<int>& units, HloClass hlo_class) {
    std::map<int, std::vector<int>> by_worker;
    for (int unit : units) by_worker[positions_.unit(unit).worker].push_back(unit);
    for (auto& [worker, members] : by_worker) {
      Head head;
      head.kind = kind;
      head.worker = worker;
      const auto [first, last] = positions_.UnitsOf(worker);
      // Cores that told nothing of where they are speak neither for nor against.
      int placed = 0;
      for (int i = first; i < last; ++i) {
        if (positions_.unit(i).state != UnitState::kUnclear) ++placed;
      }
      head.whole_host = members.size() >= 2 && static_cast<int>(members.size()) >= placed;
      head.place = positions_.unit(members.front()).place;
      for (int unit : members) {
        if (positions_.unit(unit).place != head.place) head.whole_host = false;
        const Unit& u = positions_.unit(unit);
        head.moving = head.moving || IsMoving(u);
      }
      head.at = group_.AtOf(members.front());
      head.behind = Behind(head.at);
      head.hlo_waits = hlo_class == HloClass::kInSliceWait || hlo_class == HloClass::kMaybeWait;
      head.units = std::move(members);
      heads_.push_back(std::move(head));
    }
  }

  // HLO shows that they wait for nobody on another chip.
  void AddProven() {
    for (const Cluster& cluster : group_.clusters) {
      const bool is_largest = &cluster == largest_;
      if (cluster.hlo_class == HloClass::kInput) {
        Add(HeadKind::kInput, cluster.units, cluster.hlo_class);
      } else if (cluster.hlo_class == HloClass::kSparseWait && !is_largest) {
        Add(HeadKind::kSparse, cluster.units, cluster.hlo_class);
      } else if (cluster.hlo_class == HloClass::kCompute && !is_largest && !Doubtful(cluster) &&
                 2 * cluster.units.size() <= static_cast<size_t>(group_.running)) {
        // Where most stand "in compute" the text cannot be the whole truth.
        Add(HeadKind::kCompute, cluster.units, cluster.hlo_class);
      }
    }
  }

  // Several cores of several hosts at one place whose name says nothing: rather a collective
  // that is called otherwise, in which they wait for somebody else, than as many bad chips.
  bool Doubtful(const Cluster& cluster) const {
    if (positions_.place(cluster.place).by_text || cluster.units.size() < kLeastDoubtfulUnits) {
      return false;
    }
    const int worker = positions_.unit(cluster.units.front()).worker;
    return std::any_of(cluster.units.begin(), cluster.units.end(),
                       [&](int unit) { return positions_.unit(unit).worker != worker; });
  }

  // Idle, while the slice is in a launch they never got. Work that ran out behind
  // a fault shows the same; it is told apart by who is behind whom.
  void AddIdle() {
    std::vector<int> known;
    std::vector<int> unknown;
    for (int unit : group_.idle) {
      const std::optional<int64_t> at = group_.AtOf(unit);
      if (!at.has_value()) {
        unknown.push_back(unit);
      } else if (Behind(at) && !OvertakenByHead(*at)) {
        known.push_back(unit);
      } else if (largest_->at.has_value() && *at == *largest_->at + 1 && heads_.empty() &&
                 largest_->hlo_class != HloClass::kCrossWait) {
        // Given the launch its slice waits in, but never begun: arguments are outstanding.
        known.push_back(unit);
      }
    }
    // What an idle core ran last need not be reported. Its slice meets in every
    // launch, so if nobody else holds it up, it is who never got the launch.
    if (heads_.empty() && !HasLaggard()) {
      known.insert(known.end(), unknown.begin(), unknown.end());
    }
    std::sort(known.begin(), known.end());
    Add(HeadKind::kIdle, known, HloClass::kUnknown);
  }

  bool OvertakenByHead(int64_t idle_at) const {
    return std::any_of(heads_.begin(), heads_.end(),
                       [&](const Head& head) { return head.at.has_value() && *head.at < idle_at; });
  }

  bool HasLaggard() const {
    return std::any_of(group_.clusters.begin() + 1, group_.clusters.end(),
                       [&](const Cluster& cluster) {
                         return Behind(cluster.at) && cluster.hlo_class != HloClass::kCrossWait;
                       });
  }

  static bool IsLoose(const Cluster& cluster) {
    return cluster.hlo_class == HloClass::kUnknown || cluster.hlo_class == HloClass::kInSliceWait ||
           cluster.hlo_class == HloClass::kMaybeWait;
  }

  // Heads by where they stand alone: behind the rest, or elsewhere.
  void AddLoose(bool proven) {
    std::optional<int64_t> earliest;
    for (const Head& head : heads_) {
      if (head.at && (!earliest || *head.at < *earliest)) earliest = head.at;
    }
    std::vector<const Cluster*> behind;
    std::vector<const Cluster*> beside;
    std::optional<int64_t> lowest;
    for (const Cluster& cluster : group_.clusters) {
      if (&cluster == largest_ || !IsLoose(cluster)) continue;
      if (Behind(cluster.at)) {
        if (earliest && *earliest <= *cluster.at) continue;  // waits for that head
        behind.push_back(&cluster);
        if (!lowest || *cluster.at < *lowest) lowest = cluster.at;
      } else if (cluster.at == largest_->at || !cluster.at || !largest_->at) {
        beside.push_back(&cluster);
      }
    }
    std::erase_if(behind, [&](const Cluster* cluster) { return cluster->at != lowest; });
    if (!behind.empty()) {
      AddLaggards(behind);
    } else if (!proven && heads_.empty() && !CrossBeside()) {
      AddBeside(beside);
    }
  }

  // Of several groups in the earliest launch, one that holds most of them waits
  // there for the others.
  void AddLaggards(const std::vector<const Cluster*>& groups) {
    size_t total = 0;
    size_t largest = 0;
    for (const Cluster* cluster : groups) {
      total += cluster->units.size();
      largest = std::max(largest, cluster->units.size());
    }
    for (const Cluster* cluster : groups) {
      const bool waits = groups.size() > 1 && cluster->units.size() == largest && largest >= 3 &&
                         2 * largest > total;
      if (!waits) Add(HeadKind::kLaggard, cluster->units, cluster->hlo_class);
    }
  }

  // Some wait for another slice at this very launch: those lead, not who is
  // merely somewhere else than the largest group.
  bool CrossBeside() const {
    return std::any_of(
        group_.clusters.begin() + 1, group_.clusters.end(),
        [](const Cluster& cluster) { return cluster.hlo_class == HloClass::kCrossWait; });
  }

  // "All but a few at one place and those few elsewhere in the same launch."
  void AddBeside(std::vector<const Cluster*> groups) {
    // Whoever has passed the cross-slice wait of the largest cluster, and is seen to wait for
    // its slice, is a victim.
    if (largest_->hlo_class == HloClass::kCrossWait) {
      std::erase_if(groups, [](const Cluster* cluster) {
        return cluster->hlo_class == HloClass::kInSliceWait;
      });
    }
    size_t total = 0;
    for (const Cluster* cluster : groups) total += cluster->units.size();
    if (total == 0 || static_cast<double>(total) > kFewShare * group_.running) return;
    for (const Cluster* cluster : groups)
      Add(HeadKind::kElsewhere, cluster->units, cluster->hlo_class);
  }

  // In an earlier launch, but at a place that was not reported.
  void AddUnclear() {
    std::vector<int> behind;
    for (int unit : group_.unclear) {
      if (Behind(group_.AtOf(unit))) behind.push_back(unit);
    }
    Add(HeadKind::kLaggard, behind, HloClass::kUnknown);
  }

  // Given work that it has not begun, while its slice is in that launch or a later
  // one: its host still owes it something.
  void AddEntry() {
    std::vector<int> owed;
    for (int unit : group_.entry) {
      if (Behind(group_.AtOf(unit)) || group_.AtOf(unit) == largest_->at) owed.push_back(unit);
    }
    Add(HeadKind::kInput, owed, HloClass::kUnknown);
  }

  void AddCross() {
    if (!heads_.empty()) return;
    for (const Cluster& cluster : group_.clusters) {
      if (&cluster == largest_ || cluster.hlo_class != HloClass::kCrossWait) continue;
      if (cluster.at && largest_->at && *cluster.at > *largest_->at) continue;
      Add(HeadKind::kCrossWait, cluster.units, cluster.hlo_class);
    }
  }

  SliceState StateOfSlice() const {
    for (const Head& head : heads_) {
      if (head.kind != HeadKind::kCrossWait) return SliceState::kHeaded;
    }
    if (!heads_.empty() || largest_->hlo_class == HloClass::kCrossWait) {
      return SliceState::kWaitsOutside;
    }
    if (largest_->hlo_class == HloClass::kInSliceWait) return SliceState::kWaitsInside;
    return SliceState::kUnclear;
  }

  // Nobody holds the largest cluster up, yet some whole workers are in a later launch:
  // they went past one in which their slice still meets.
  void NoteAhead(std::vector<int>& ahead) const {
    if (largest_->hlo_class == HloClass::kCrossWait) return;
    std::map<int, int> later;
    for (const Cluster& cluster : group_.clusters) {
      if (!cluster.at || !largest_->at || *cluster.at <= *largest_->at) continue;
      for (int unit : cluster.units) ++later[positions_.unit(unit).worker];
    }
    for (const auto& [worker, count] : later) {
      const auto [first, last] = positions_.UnitsOf(worker);
      if (count == last - first) ahead.push_back(worker);
    }
  }

  const Positions& positions_;
  const SliceGroup& group_;
  const Cluster* largest_ = nullptr;
  std::vector<Head> heads_;
};

}  // namespace

std::vector<Head> HeadsOfSliceGroup(const Positions& positions, const SliceGroup& group,
                                    SliceView& view, std::vector<int>& ahead) {
  return HeadFinder(positions, group).Read(view, ahead);
}

}  // namespace rapideye::classifier

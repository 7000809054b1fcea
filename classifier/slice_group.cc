#include "classifier/slice_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "classifier/slice_launches.h"
#include "classifier/thresholds.h"
#include "classifier/wavefront.h"

namespace rapideye::classifier {
namespace {

bool Computes(HloClass hlo_class) {
  return hlo_class == HloClass::kCompute || hlo_class == HloClass::kKernel;
}

// True if no core waits there. Several cores in one kernel may wait for others in it, too; and if
// many cores compute by the name of their instruction alone, that is a collective with another
// name.
bool NeverWaits(const Positions& positions, const Cluster& cluster) {
  switch (cluster.hlo_class) {
    case HloClass::kInput:
      return true;
    case HloClass::kKernel:
      return cluster.units.size() == 1;
    case HloClass::kCompute:
      return positions.place(cluster.place).by_text || cluster.units.size() < kLeastDoubtfulUnits;
    default:
      return false;
  }
}

using ClusterKey = std::pair<std::optional<int64_t>, int>;  // at, place

// The largest group; a tie goes to a group that can be waiting, then to the group that is
// further on, so that cores that moved on are not taken for cores that hold others up.
std::tuple<bool, size_t, int, std::optional<int64_t>> ClusterRank(const Positions& positions,
                                                                  const Cluster& cluster) {
  const int patience = cluster.hlo_class == HloClass::kUnknown ? 0 : 1;
  return {!NeverWaits(positions, cluster), cluster.units.size(), patience, cluster.at};
}

// The running units of the slice. The others go into the group by their states.
std::vector<int> SortUnits(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int last, SliceGroup& group) {
  std::vector<int> running;
  for (int i = group.first_unit; i < last; ++i) {
    const Unit& unit = positions.unit(i);
    group.at.push_back(unit.at);
    // Diverged workers are judged by their programs; spare workers belong to no step.
    if (divergence.is_foreign[static_cast<size_t>(unit.worker)]) continue;
    if (!topology.worker(unit.worker).in_named_cohort) continue;
    switch (unit.state) {
      case UnitState::kRunning:
        running.push_back(i);
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
  return running;
}

// The first of the units that stand where most do, in one launch.
int FirstOfMost(const Positions& positions, const std::vector<int>& running) {
  using Stand = std::tuple<int, std::optional<int32_t>, int>;  // program, launch, place
  const auto stand_of = [&](int i) {
    const Unit& unit = positions.unit(i);
    return Stand(unit.program, unit.core->launch_id, unit.place);
  };
  std::map<Stand, std::pair<int, int>> stands;  // how many, the first
  for (int i : running) ++stands.try_emplace(stand_of(i), 0, i).first->second.first;
  return std::min_element(stands.begin(), stands.end(),
                          [](const auto& a, const auto& b) {
                            return std::pair(-a.second.first, a.second.second) <
                                   std::pair(-b.second.first, b.second.second);
                          })
      ->second.second;
}

}  // namespace

SliceGroup BuildSliceGroup(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int slice) {
  const SliceInfo& info = topology.slices()[static_cast<size_t>(slice)];
  SliceGroup group;
  for (int i = info.first; i < info.last; ++i) {
    const WorkerInfo& worker = topology.worker(i);
    const auto [begin, end] = positions.UnitsOf(i);
    group.lacks_workers =
        group.lacks_workers || worker.snapshot == nullptr || (begin == end && !worker.standby);
  }
  group.first_unit = positions.UnitsOf(info.first).first;
  const int last = positions.UnitsOf(info.last - 1).second;
  const std::vector<int> running = SortUnits(topology, positions, divergence, last, group);
  group.running = static_cast<int>(running.size());
  if (running.empty()) return group;

  const int largest = FirstOfMost(positions, running);
  if (!positions.unit(largest).at.has_value()) {
    const LocalOrder local(topology, positions, largest);
    for (int i = group.first_unit; i < last; ++i) {
      group.at[static_cast<size_t>(i - group.first_unit)] = local.At(positions.unit(i));
    }
  }

  if (positions.unit(largest).at.has_value()) PlaceByQueues(topology, positions, largest, group);
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
  std::stable_sort(group.clusters.begin(), group.clusters.end(),
                   [&](const Cluster& a, const Cluster& b) {
                     return ClusterRank(positions, a) > ClusterRank(positions, b);
                   });
  return group;
}

namespace {

// True if all heads are chips that wait for their SparseCores, and several: those carry one
// collective, to which some other core has not come.
bool CarryOneCollective(const std::vector<Head>& heads) {
  size_t units = 0;
  for (const Head& head : heads) {
    if (head.kind != HeadKind::kSparse) return false;
    units += head.units.size();
  }
  return units > 1;
}

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
    AddComputing();
    AddMoving();
    AddEntry();
    const bool proven = !heads_.empty();
    if (heads_.empty()) AddLeftAlone();
    if (!OnlyHeadsRun()) AddIdle();
    DropBehindIdle();
    AddLoose(proven);
    if (heads_.empty()) AddUnclear();
    AddCross();
    view.state = StateOfSlice();
    if (IsHead(*largest_)) view.cluster = 0;
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
      // Cores without a known place are evidence neither for nor against a whole host.
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

  // True if the units are of one chip, as a bad chip holds them. Cores that wait have company.
  bool OnOneChip(const Cluster& cluster) const {
    const Unit& first = positions_.unit(cluster.units.front());
    return std::all_of(cluster.units.begin(), cluster.units.end(), [&](int i) {
      const Unit& unit = positions_.unit(i);
      return i == cluster.units.front() ||
             (unit.worker == first.worker && unit.core->chip.has_value() &&
              unit.core->chip == first.core->chip);
    });
  }

  bool OnOneWorker(const Cluster& cluster) const {
    return positions_.unit(cluster.units.front()).worker ==
           positions_.unit(cluster.units.back()).worker;
  }

  bool IsHead(const Cluster& cluster) const {
    return std::any_of(heads_.begin(), heads_.end(), [&](const Head& head) {
      return std::find(head.units.begin(), head.units.end(), cluster.units.front()) !=
             head.units.end();
    });
  }

  // True if only heads run: the idle cores beside them have finished, because no core waits.
  bool OnlyHeadsRun() const {
    return !heads_.empty() && std::all_of(group_.clusters.begin(), group_.clusters.end(),
                                          [&](const Cluster& cluster) { return IsHead(cluster); });
  }

  // Adds clusters at instructions that wait for their own host or SparseCore, by HLO.
  void AddProven() {
    for (const Cluster& cluster : group_.clusters) {
      if (cluster.hlo_class == HloClass::kInput) {
        Add(HeadKind::kInput, cluster.units, cluster.hlo_class);
      } else if (cluster.hlo_class == HloClass::kSparseWait && &cluster != largest_) {
        Add(HeadKind::kSparse, cluster.units, cluster.hlo_class);
      }
    }
  }

  // Adds clusters at instructions that wait for no core, by HLO: first those that compute alone,
  // then those alone in a kernel, then the others, unless their number makes their text doubtful.
  void AddComputing() {
    const bool others = group_.clusters.size() > 1 || !group_.idle.empty();
    if (!others) return;  // of a slice of one core other slices may tell more
    for (const HloClass hlo_class : {HloClass::kCompute, HloClass::kKernel}) {
      bool found = false;
      for (const Cluster& cluster : group_.clusters) {
        if (cluster.hlo_class != hlo_class || !OnOneChip(cluster)) continue;
        if (&cluster == largest_ && group_.clusters.size() > 1) continue;
        Add(HeadKind::kCompute, cluster.units, cluster.hlo_class);
        found = true;
      }
      if (found) return;
    }
    for (const Cluster& cluster : group_.clusters) {
      if (cluster.hlo_class != HloClass::kCompute || &cluster == largest_ || Doubtful(cluster) ||
          2 * cluster.units.size() > static_cast<size_t>(group_.running)) {
        continue;
      }
      Add(HeadKind::kCompute, cluster.units, cluster.hlo_class);
    }
  }

  // Several cores of several hosts at one place with a name that tells nothing: rather a collective
  // with another name, in which they wait for some other core, than as many bad chips.
  bool Doubtful(const Cluster& cluster) const {
    return !positions_.place(cluster.place).by_text &&
           cluster.units.size() >= kLeastDoubtfulUnits && !OnOneWorker(cluster);
  }

  // Adds a cluster whose pc goes on while the pcs of the others stand still: it loops.
  void AddMoving() {
    const int64_t median = MedianFrozen();
    std::vector<const Cluster*> moving;
    for (const Cluster& cluster : group_.clusters) {
      if (IsHead(cluster) || !OnOneChip(cluster) || group_.clusters.size() < 2) continue;
      const Unit& unit = positions_.unit(cluster.units.front());
      if (unit.frozen_ms && *unit.frozen_ms < median / 4 && MovesAloneOnHost(unit, median)) {
        moving.push_back(&cluster);
      }
    }
    // To an agent that began to look lately, no core stands for long.
    constexpr size_t kMostLoops = 2;
    if (moving.size() > kMostLoops) return;
    for (const Cluster* cluster : moving) {
      Add(Behind(cluster->at) ? HeadKind::kLaggard : HeadKind::kElsewhere, cluster->units,
          HloClass::kUnknown);
      heads_.back().moving = true;
    }
  }

  int64_t MedianFrozen() const {
    std::vector<int64_t> frozen;
    for (const Cluster& cluster : group_.clusters) {
      for (int i : cluster.units) {
        if (positions_.unit(i).frozen_ms) frozen.push_back(*positions_.unit(i).frozen_ms);
      }
    }
    if (frozen.empty()) return 0;
    const auto middle = frozen.begin() + static_cast<std::ptrdiff_t>(frozen.size() / 2);
    std::nth_element(frozen.begin(), middle, frozen.end());
    return *middle;
  }

  bool MovesAloneOnHost(const Unit& moving, int64_t median) const {
    const auto [first, last] = positions_.UnitsOf(moving.worker);
    bool others = false;
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      if (unit.core->chip == moving.core->chip || unit.state != UnitState::kRunning) continue;
      others = true;
      if (unit.frozen_ms && *unit.frozen_ms >= median / 4) return true;
    }
    return !others;
  }

  // Adds idle cores while the slice is in a launch that they never got. Work that ran out behind
  // a fault shows the same; the order of launches separates the two.
  void AddIdle() {
    std::vector<int> known;
    std::vector<int> unknown;
    for (int unit : group_.idle) {
      if (RunsBeside(unit)) continue;
      const std::optional<int64_t> at = group_.AtOf(unit);
      if (!at.has_value()) {
        if (!Finished(unit)) unknown.push_back(unit);
      } else if (Behind(at) && !OvertakenByHead(*at)) {
        known.push_back(unit);
      } else if (largest_->at.has_value() && *at == *largest_->at + 1 && heads_.empty() &&
                 largest_->hlo_class != HloClass::kCrossWait && !Finished(unit)) {
        // The host was given the launch, but the core never began it: arguments are outstanding.
        known.push_back(unit);
      }
    }
    // The last launch of an idle core need not be reported. Its slice meets in every
    // launch, so if no other head holds the slice up, that core never got the launch.
    if ((heads_.empty() || CarryOneCollective(heads_)) && !HasLaggard()) {
      known.insert(known.end(), unknown.begin(), unknown.end());
    }
    std::sort(known.begin(), known.end());
    Add(HeadKind::kIdle, known, HloClass::kUnknown);
  }

  // A core in a launch that a host of its slice never got can come no further than to the
  // collective with that host: even if the core computes now, it would end up waiting there.
  void DropBehindIdle() {
    std::optional<int64_t> earliest;
    for (const Head& head : heads_) {
      if (head.kind != HeadKind::kIdle || !head.whole_host || !head.at || !Behind(head.at))
        continue;
      earliest = std::min(earliest.value_or(*head.at), *head.at);
    }
    if (!earliest) return;
    std::erase_if(heads_, [&](const Head& head) {
      return head.kind == HeadKind::kCompute && head.at && *head.at > *earliest;
    });
  }

  // True if another chip of its host is in a launch. A process gives all its chips the same
  // launches, so this chip has ended that launch already.
  bool RunsBeside(int unit) const {
    const auto [first, last] = positions_.UnitsOf(positions_.unit(unit).worker);
    for (int i = first; i < last; ++i) {
      if (positions_.unit(i).state == UnitState::kRunning) return true;
    }
    return false;
  }

  // Adds the one core that still runs, while all others of its slice have finished its launch and
  // have nothing left to do: whatever its instruction, the others do not wait for it there.
  void AddLeftAlone() {
    const bool alone = group_.clusters.size() == 1 && OnOneChip(*largest_) &&
                       !group_.idle.empty() && group_.entry.empty() && group_.unclear.empty();
    if (!alone || !(IsLoose(*largest_) || Computes(largest_->hlo_class))) return;
    int64_t least = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> done;
    for (int i : largest_->units) {
      if (positions_.unit(i).stuck_ms) least = std::min(least, *positions_.unit(i).stuck_ms);
    }
    for (int i : group_.idle) {
      const std::optional<int64_t> at = group_.AtOf(i);
      if (at && largest_->at && *at < *largest_->at) return;
      if (positions_.unit(i).stuck_ms) done.push_back(*positions_.unit(i).stuck_ms);
    }
    if (2 * done.size() < group_.idle.size()) return;
    const auto middle = done.begin() + static_cast<std::ptrdiff_t>(done.size() / 2);
    std::nth_element(done.begin(), middle, done.end());
    if (least == std::numeric_limits<int64_t>::max() || *middle + kCollectionSpreadMs >= least) {
      return;
    }
    Add(HeadKind::kElsewhere, largest_->units, largest_->hlo_class);
  }

  // True if it completed a launch later than those that wait: the very launch in which they wait.
  bool Finished(int unit) const {
    const std::optional<int64_t>& own = positions_.unit(unit).stuck_ms;
    std::optional<int64_t> least;
    for (int i : largest_->units) {
      const std::optional<int64_t>& stuck = positions_.unit(i).stuck_ms;
      if (stuck && (!least || *stuck < *least)) least = stuck;
    }
    return own && least && *own + kAgeErrorMs < *least;
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
           cluster.hlo_class == HloClass::kMaybeWait || cluster.hlo_class == HloClass::kKernel;
  }

  // Adds heads by places where they stand alone: behind the rest, or elsewhere.
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

  // Takes cores in the earliest launch: the mates of a core that stands alone wait for it, and all
  // other cores wait for those mates.
  void AddLaggards(const std::vector<const Cluster*>& groups) {
    if (AddAlone(HeadKind::kLaggard, groups)) return;
    AddHosts(HeadKind::kLaggard, groups);
  }

  // Adds the cores that stand alone: those not known to wait, if there are any; else the only one
  // that is known to wait. Mates that wait for a core of their group have company, unless the
  // group is a pair.
  bool AddAlone(HeadKind kind, const std::vector<const Cluster*>& groups) {
    std::vector<const Cluster*> free;
    std::vector<const Cluster*> waiting;
    for (const Cluster* cluster : groups) {
      if (!OnOneChip(*cluster)) continue;
      (cluster->hlo_class == HloClass::kInSliceWait ? waiting : free).push_back(cluster);
    }
    const bool mates = std::any_of(groups.begin(), groups.end(),
                                   [&](const Cluster* cluster) { return !OnOneChip(*cluster); });
    if (free.empty()) {
      // A core that waits for a worker of which nothing is known stands alone, too.
      if (waiting.size() != 1 || mates || group_.lacks_workers) return false;
      Add(kind, waiting.front()->units, waiting.front()->hlo_class);
      return true;
    }
    KeepFirstToStop(free);
    for (const Cluster* cluster : free) {
      Add(kind, cluster->units, cluster->hlo_class);
      heads_.back().or_mate = !mates && HasMateAmong(cluster->units.front(), free);
    }
    return true;
  }

  bool HasMateAmong(int unit, const std::vector<const Cluster*>& clusters) const {
    return std::any_of(clusters.begin(), clusters.end(), [&](const Cluster* cluster) {
      return cluster->units.front() != unit && CanBePair(cluster->units.front(), unit);
    });
  }

  // True if the cores can be a pair of a mesh axis of two: one may wait for the other there.
  bool CanBePair(int unit, int other) const {
    const auto seats = static_cast<int>(group_.at.size());
    const int first = std::min(unit, other) - group_.first_unit;
    const int stride = std::abs(unit - other);
    return seats % (2 * stride) == 0 && first / stride % 2 == 0;
  }

  void KeepFirstToStop(std::vector<const Cluster*>& clusters) const {
    const auto core = [&](const Cluster* cluster) -> const Core& {
      return *positions_.unit(cluster->units.front()).core;
    };
    for (const Cluster* first : clusters) {
      const bool before_all =
          std::all_of(clusters.begin(), clusters.end(), [&](const Cluster* other) {
            return other == first || StoppedBefore(core(first), core(other));
          });
      if (!before_all) continue;
      clusters = {first};
      return;
    }
  }

  // The largest of several groups waits for the others. Cores of several hosts that stand
  // together wait for another core; all cores of a host, or some of one host, may be held by it.
  void AddHosts(HeadKind kind, const std::vector<const Cluster*>& groups) {
    size_t largest = 0;
    for (const Cluster* cluster : groups) largest = std::max(largest, cluster->units.size());
    if (groups.size() == 1 && groups.front()->units.size() < kLeastDoubtfulUnits &&
        groups.front()->hlo_class != HloClass::kInSliceWait && !OnOneWorker(*groups.front())) {
      AddTwoAlike(kind, *groups.front());
      return;
    }
    for (const bool may_wait : {false, true}) {
      bool found = false;
      for (const Cluster* cluster : groups) {
        if ((cluster->hlo_class == HloClass::kInSliceWait) != may_wait) continue;
        if (groups.size() > 1 && cluster->units.size() == largest && largest >= 3) continue;
        if (may_wait && groups.size() > 1) continue;
        const std::vector<int> units = HeldByHosts(*cluster);
        Add(kind, units, cluster->hlo_class);
        found = found || !units.empty();
      }
      if (found) return;
    }
  }

  // Two cores of two hosts stand at one place, and all others at another: they fail alike, or they
  // are a pair that waits for some other core.
  void AddTwoAlike(HeadKind kind, const Cluster& cluster) {
    const int one = cluster.units.front();
    const int other = cluster.units.back();
    const bool pair = cluster.hlo_class != HloClass::kKernel && CanBePair(one, other);
    const size_t before = heads_.size();
    Add(kind, cluster.units, cluster.hlo_class);
    for (size_t i = before; i < heads_.size(); ++i) heads_[i].or_mate = pair;
  }

  std::vector<int> HeldByHosts(const Cluster& cluster) const {
    if (OnOneWorker(cluster)) return cluster.units;
    std::map<int, std::vector<int>> by_worker;
    for (int unit : cluster.units) by_worker[positions_.unit(unit).worker].push_back(unit);
    std::vector<int> units;
    for (const auto& [worker, members] : by_worker) {
      const auto [first, last] = positions_.UnitsOf(worker);
      if (last - first < 2 || static_cast<int>(members.size()) < last - first) continue;
      units.insert(units.end(), members.begin(), members.end());
    }
    return units;
  }

  // True if some wait for another slice at this very launch: those lead, not cores that are
  // merely at another place than the largest group.
  bool CrossBeside() const {
    return std::any_of(
        group_.clusters.begin() + 1, group_.clusters.end(),
        [](const Cluster& cluster) { return cluster.hlo_class == HloClass::kCrossWait; });
  }

  // "All but a few at one place and those few elsewhere in the same launch."
  void AddBeside(std::vector<const Cluster*> groups) {
    // A core that has passed the cross-slice wait of the largest cluster, and is seen to wait for
    // its slice, is a victim.
    if (largest_->hlo_class == HloClass::kCrossWait) {
      std::erase_if(groups, [](const Cluster* cluster) {
        return cluster->hlo_class == HloClass::kInSliceWait;
      });
    }
    if (groups.empty() || group_.running < 3) return;
    if (!(group_.lacks_workers && largest_->units.size() > 1) &&
        AddAlone(HeadKind::kElsewhere, groups)) {
      return;
    }
    size_t total = 0;
    for (const Cluster* cluster : groups) total += cluster->units.size();
    if (static_cast<double>(total) > kFewShare * group_.running) return;
    AddHosts(HeadKind::kElsewhere, groups);
  }

  // Adds cores in an earlier launch whose place was not reported.
  void AddUnclear() {
    std::vector<int> behind;
    for (int unit : group_.unclear) {
      if (Behind(group_.AtOf(unit))) behind.push_back(unit);
    }
    Add(HeadKind::kLaggard, behind, HloClass::kUnknown);
  }

  // Adds cores with work that they have not begun, while their slice is in that launch or a later
  // one: their host still owes them something.
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

  // No head holds the largest cluster up, yet some whole workers are in a later launch:
  // they have passed a launch in which their slice still meets.
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

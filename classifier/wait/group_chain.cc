#include "classifier/wait/group_chain.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wait/chain_text.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

// Bounds of the search for the core that breaks all circles: beyond them the slice is left as it
// is. Cores that stand alone are few; a slice has up to some ten thousand cores.
constexpr size_t kMostBreakers = 16;
constexpr size_t kMostWaits = 1'000'000;

// Sentences of one slice about the mates of a head.
constexpr size_t kMostMateSentences = 3;

bool IsSingle(const Head& head) {
  return !head.whole_host && head.sparse < 0 && !head.units.empty() &&
         (head.kind == HeadKind::kLaggard || head.kind == HeadKind::kElsewhere ||
          head.kind == HeadKind::kCompute);
}

class Follower {
 public:
  Follower(const GroupChainInput& input, const SliceGroup& group, std::vector<Head>& heads,
           SliceView& view, std::vector<Reason>& reasons)
      : input_(input), group_(group), heads_(heads), view_(view), reasons_(reasons) {}

  void Follow() {
    DropWhoWait();
    CorrectMates();
    if (heads_.empty() && view_.state != SliceState::kWaitsOutside) AddBreaker();
    TellMates();
  }

 private:
  const GroupWait* WaitOf(int unit);

  // True if some member for which `unit` waits is certainly a unit of `head`.
  static bool Awaits(const GroupWait& wait, const Head& head) {
    return std::any_of(wait.awaited.begin(), wait.awaited.end(), [&](const auto& one) {
      return std::includes(head.units.begin(), head.units.end(), one.begin(), one.end());
    });
  }

  bool AtCollective(int unit) const {
    const int place = input_.positions.unit(unit).place;
    return place >= 0 && input_.positions.place(place).hlo_class == HloClass::kInSliceWait;
  }

  void Tell(ReasonKind kind, std::string text) {
    if (reasons_.size() < kMaxChainLines) {
      reasons_.push_back({"wait_graph", std::move(text), kind});
    }
  }

  std::string Name(const Head& head) const {
    return HeadName(input_.topology, input_.positions, head);
  }

  std::string PlaceOf(int unit) const {
    return PlaceName(input_.topology, input_.positions.place(input_.positions.unit(unit).place));
  }

  // Drops a head that has somebody to wait for at its collective: a worker of which nothing is
  // known, or another head. Two heads that wait for each other both stay.
  void DropWhoWait();

  // Reads from the groups whether one of two heads may wait for the other, where seats were taken.
  void CorrectMates();

  // The units of the slice, all at collectives with groups that are known to the last member.
  bool ReadWaits(std::vector<int>& units, std::map<int, std::vector<int>>& awaited);

  // True if all waits but those of `breaker` make no circle, and lead to it alone.
  static bool Breaks(int breaker, const std::vector<int>& units,
                     const std::map<int, std::vector<int>>& awaited);

  void AddBreaker();

  // "3 of the 4 cores that meet at all-gather.7 stand there, and wait for chip 2 of host-3".
  void TellMates();

  const GroupChainInput& input_;
  const SliceGroup& group_;
  std::vector<Head>& heads_;
  SliceView& view_;
  std::vector<Reason>& reasons_;
  std::map<int, std::optional<GroupWait>> waits_;
};

const GroupWait* Follower::WaitOf(int unit) {
  const auto [memo, added] = waits_.try_emplace(unit);
  if (added) {
    memo->second = input_.partners.Of(
        unit, [this](int i) { return group_.AtOf(i); },
        [this](int i) {
          const int worker = input_.positions.unit(i).worker;
          return !input_.divergence.is_foreign[static_cast<size_t>(worker)] &&
                 input_.topology.worker(worker).in_named_cohort;
        });
  }
  return memo->second ? &*memo->second : nullptr;
}

void Follower::DropWhoWait() {
  std::vector<bool> drop(heads_.size());
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].sparse >= 0 || heads_[i].units.empty()) continue;
    const int unit = heads_[i].units.front();
    if (!AtCollective(unit)) continue;
    const GroupWait* wait = WaitOf(unit);
    if (wait == nullptr) continue;
    std::string whom;
    if (group_.lacks_workers && wait->unseen) whom = "a worker of which nothing is known";
    for (size_t j = 0; j < heads_.size() && whom.empty(); ++j) {
      if (i == j || !Awaits(*wait, heads_[j])) continue;
      const GroupWait* back = WaitOf(heads_[j].units.front());
      if (back == nullptr || !Awaits(*back, heads_[i])) whom = Name(heads_[j]);
    }
    if (whom.empty()) continue;
    drop[i] = true;
    Tell(ReasonKind::kRuledOut, absl::StrCat(Name(heads_[i]), " waits at ", PlaceOf(unit),
                                             " for a member of its group there, ", whom));
  }
  size_t i = 0;
  std::erase_if(heads_, [&](const Head&) { return drop[i++]; });
}

void Follower::CorrectMates() {
  for (size_t i = 0; i < heads_.size(); ++i) {
    for (size_t j = 0; j < heads_.size(); ++j) {
      if (i == j || !IsSingle(heads_[i]) || !IsSingle(heads_[j])) continue;
      if (heads_[i].kind == HeadKind::kCompute) continue;
      const GroupWait* wait = WaitOf(heads_[i].units.front());
      if (wait == nullptr || !Awaits(*wait, heads_[j])) continue;
      heads_[i].or_mate = true;
      heads_[j].or_mate = heads_[j].or_mate || heads_[j].kind != HeadKind::kCompute;
    }
  }
  const bool all = std::all_of(heads_.begin(), heads_.end(), [&](const Head& head) {
    if (!IsSingle(head)) return false;
    const GroupWait* wait = WaitOf(head.units.front());
    return wait != nullptr && !wait->unseen;
  });
  if (!all) return;
  // Every group is known: seats say nothing more.
  for (Head& head : heads_) {
    const GroupWait* own = WaitOf(head.units.front());
    head.or_mate = std::any_of(heads_.begin(), heads_.end(), [&](const Head& other) {
      return &other != &head && (Awaits(*own, other) || Awaits(*WaitOf(other.units.front()), head));
    });
  }
}

bool Follower::ReadWaits(std::vector<int>& units, std::map<int, std::vector<int>>& awaited) {
  if (group_.lacks_workers || !group_.idle.empty() || !group_.entry.empty() ||
      !group_.unclear.empty() || group_.clusters.size() < 2) {
    return false;
  }
  size_t waits = 0;
  for (const Cluster& cluster : group_.clusters) {
    if (cluster.hlo_class != HloClass::kInSliceWait) return false;
    for (const int unit : cluster.units) {
      const GroupWait* wait = WaitOf(unit);
      if (wait == nullptr || wait->unseen || waits > kMostWaits) return false;
      units.push_back(unit);
      for (const auto& one : wait->awaited) {
        if (one.size() != 1) return false;
        awaited[unit].push_back(one.front());
        ++waits;
      }
    }
  }
  return true;
}

bool Follower::Breaks(int breaker, const std::vector<int>& units,
                      const std::map<int, std::vector<int>>& awaited) {
  std::map<int, size_t> open;  // waits of a unit for units that are not yet reached
  std::map<int, std::vector<int>> waiters;
  for (const int unit : units) {
    if (unit == breaker) continue;
    const auto of = awaited.find(unit);
    if (of == awaited.end()) return false;  // it waits for nobody else, too
    open[unit] = of->second.size();
    for (const int other : of->second) waiters[other].push_back(unit);
  }
  std::vector<int> reached = {breaker};
  for (size_t next = 0; next < reached.size(); ++next) {
    for (const int waiter : waiters[reached[next]]) {
      if (--open[waiter] == 0) reached.push_back(waiter);
    }
  }
  return reached.size() == units.size();
}

void Follower::AddBreaker() {
  std::vector<int> units;
  std::map<int, std::vector<int>> awaited;
  if (!ReadWaits(units, awaited)) return;
  std::vector<int> candidates;
  for (size_t i = 1; i < group_.clusters.size(); ++i) {
    if (group_.clusters[i].units.size() == 1) {
      candidates.push_back(group_.clusters[i].units.front());
    }
  }
  if (candidates.empty() || candidates.size() > kMostBreakers) return;
  std::erase_if(candidates, [&](int unit) { return !Breaks(unit, units, awaited); });
  if (candidates.size() != 1) return;
  const Unit& unit = input_.positions.unit(candidates.front());
  Head head;
  head.worker = unit.worker;
  head.units = candidates;
  head.place = unit.place;
  head.at = group_.AtOf(candidates.front());
  const Cluster& largest = group_.clusters.front();
  head.behind = head.at && largest.at && *head.at < *largest.at;
  head.kind = head.behind ? HeadKind::kLaggard : HeadKind::kElsewhere;
  head.hlo_waits = true;
  head.moving = IsMoving(unit);
  view_.state = SliceState::kHeaded;
  heads_.push_back(std::move(head));
  Tell(ReasonKind::kWaits,
       absl::StrCat("by the groups of their collectives all cores wait for each other in a "
                    "circle, unless ",
                    Name(heads_.back()), " does not wait where it stands"));
}

void Follower::TellMates() {
  size_t told = 0;
  for (const Head& head : heads_) {
    if (head.kind == HeadKind::kCrossWait) continue;
    std::map<int, const GroupWait*> at;  // by place
    for (const Cluster& cluster : group_.clusters) {
      if (cluster.hlo_class != HloClass::kInSliceWait) continue;
      for (const int unit : cluster.units) {
        const GroupWait* wait = WaitOf(unit);
        if (wait != nullptr && Awaits(*wait, head)) at.emplace(cluster.place, wait);
      }
    }
    for (const auto& [place, wait] : at) {
      if (told++ >= kMostMateSentences) return;
      Tell(ReasonKind::kWaits,
           absl::StrCat(
               wait->arrived, " of the ", wait->members, " cores that meet at ",
               PlaceName(input_.topology, input_.positions.place(place)),
               wait->arrived == 1 ? " stands there, and waits for " : " stand there, and wait for ",
               Name(head)));
    }
  }
}

}  // namespace

void FollowGroups(const GroupChainInput& input, const SliceGroup& group, std::vector<Head>& heads,
                  SliceView& view, std::vector<Reason>& reasons) {
  if (input.partners.empty()) return;
  Follower(input, group, heads, view, reasons).Follow();
}

}  // namespace rapideye::classifier

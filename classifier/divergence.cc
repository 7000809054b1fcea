#include "classifier/divergence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace rapideye::classifier {
namespace {

// How two programs that hosts of one slice are in relate.
enum class Relation {
  kUnordered,  // nothing tells which comes first
  kSameSlot,   // the same launch follows both: one stands where the other should
  kBehind,     // the first comes before the second
  kAhead,
};

class Finder {
 public:
  Finder(const Topology& topology, const Positions& positions)
      : topology_(topology), positions_(positions) {}

  Divergence Find() {
    const int workers = static_cast<int>(topology_.workers().size());
    result_.is_foreign.assign(static_cast<size_t>(workers), false);
    result_.running.assign(static_cast<size_t>(workers), -1);
    for (int i = 0; i < workers; ++i) NoteWorker(i);
    for (int s = 0; s < static_cast<int>(topology_.slices().size()); ++s) JudgeSlice(s);
    TakeSwapped();
    std::map<std::pair<int, int>, std::vector<int>> groups;
    for (int i = 0; i < workers; ++i) {
      if (Misordered(i)) result_.misordered.push_back(i);
      if (!result_.is_foreign[static_cast<size_t>(i)]) continue;
      groups[{topology_.worker(i).cohort, Running(i)}].push_back(i);
    }
    for (auto& [key, members] : groups) {
      result_.foreign.push_back({key.first, key.second, std::move(members)});
    }
    std::vector<int>& misordered = result_.misordered;
    std::sort(misordered.begin(), misordered.end());
    misordered.erase(std::unique(misordered.begin(), misordered.end()), misordered.end());
    return std::move(result_);
  }

 private:
  int Running(int worker) const { return result_.running[static_cast<size_t>(worker)]; }
  const ProgramOrder& OrderOf(int cohort) const {
    return topology_.cohorts()[static_cast<size_t>(cohort)].order;
  }

  void NoteWorker(int worker) {
    const auto [first, last] = positions_.UnitsOf(worker);
    const int cohort = topology_.worker(worker).cohort;
    const int slice = topology_.worker(worker).slice;
    int running = -1;
    bool mixed = false;
    std::set<int> held;
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      for (const Launch& launch : topology_.Chain(worker, *unit.core)) {
        if (launch.program >= 0) held.insert(launch.program);
      }
      if (unit.at) {
        auto [it, added] = furthest_.try_emplace(cohort, *unit.at);
        if (!added) it->second = std::max(it->second, *unit.at);
      }
      if (unit.state != UnitState::kRunning || unit.program < 0) continue;
      mixed = mixed || (running >= 0 && running != unit.program);
      running = unit.program;
      std::set<int>& places = places_[{slice, unit.program}];
      if (places.size() < 2) places.insert(unit.place);
    }
    if (mixed) running = -1;
    result_.running[static_cast<size_t>(worker)] = running;
    for (int program : held) {
      Holders& holders = holders_[{cohort, program}];
      ++holders.workers;
      if (running != program) holders.by_others = true;
    }
  }

  // By cohort, what whole hosts of the slice are in.
  void JudgeSlice(int slice) {
    std::map<int, std::map<int, std::vector<int>>> cohorts;
    const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
    for (int i = info.first; i < info.last; ++i) {
      if (Running(i) >= 0) cohorts[topology_.worker(i).cohort][Running(i)].push_back(i);
    }
    for (const auto& [cohort, programs] : cohorts) {
      if (programs.size() == 1) {
        const auto& [program, workers] = *programs.begin();
        if (IsForeignToStep(slice, cohort, program, workers)) Mark(workers);
        continue;
      }
      const int main = MainOf(cohort, programs);
      const std::vector<int>& most = programs.at(main);
      for (const auto& [program, workers] : programs) {
        if (program == main || !Conflicts(slice, cohort, program, workers, main, most)) continue;
        // Each holds what the other is in: the same programs in another order.
        if (Holds(workers.front(), main) && Holds(most.front(), program)) {
          auto& [one, other] = swapped_[{cohort, std::min(program, main), std::max(program, main)}];
          const auto append = [](std::vector<int>& to, const std::vector<int>& from) {
            to.insert(to.end(), from.begin(), from.end());
          };
          append(one, program < main ? workers : most);
          append(other, program < main ? most : workers);
        } else {
          Mark(workers);
        }
      }
    }
  }

  // Of two programs in either order, whoever are fewer in all slices at odds; if they
  // are as many, whose queues the rest of the cohort's do not bear out; failing that,
  // one of each.
  void TakeSwapped() {
    for (auto& [programs, sides] : swapped_) {
      auto& [one, other] = sides;
      if (one.size() == other.size()) {
        const int cohort = std::get<0>(programs);
        const int votes =
            VotesFor(ChainOf(one.front()), cohort) - VotesFor(ChainOf(other.front()), cohort);
        if (votes > 0) {
          one.clear();
        } else if (votes < 0) {
          other.clear();
        } else {
          one.resize(1);
          one.push_back(other.front());
          other = one;
        }
        const std::vector<int>& odd = one.empty() ? other : one;
        result_.misordered.insert(result_.misordered.end(), odd.begin(), odd.end());
        continue;
      }
      const std::vector<int>& fewer = one.size() <= other.size() ? one : other;
      result_.misordered.insert(result_.misordered.end(), fewer.begin(), fewer.end());
    }
  }

  // Workers that were given the first two launches of `chain`, or the same two of
  // another step, one right after the other.
  int VotesFor(const std::vector<Launch>& chain, int cohort) const {
    if (chain.size() < 2 || !chain[0].id || !chain[1].id) return 0;
    const auto follows = [&](const Launch& first, const Launch& second) {
      return first.program == chain[0].program && second.program == chain[1].program && first.id &&
             second.id &&
             SerialDistance(*second.id, *first.id) == SerialDistance(*chain[1].id, *chain[0].id);
    };
    int votes = 0;
    for (int i = 0; i < static_cast<int>(topology_.workers().size()); ++i) {
      if (topology_.worker(i).cohort != cohort) continue;
      const std::vector<Launch> given = ChainOf(i);
      votes += std::adjacent_find(given.begin(), given.end(), follows) == given.end() ? 0 : 1;
    }
    return votes;
  }

  bool Holds(int worker, int program) const {
    const std::vector<Launch> chain = ChainOf(worker);
    return std::any_of(chain.begin(), chain.end(),
                       [&](const Launch& launch) { return launch.program == program; });
  }

  void Mark(const std::vector<int>& workers) {
    for (int worker : workers) result_.is_foreign[static_cast<size_t>(worker)] = true;
  }

  // What the step holds, then what most of the cohort has to do with: never how many
  // of this slice, or two slices would take different sides.
  int MainOf(int cohort, const std::map<int, std::vector<int>>& programs) const {
    int main = -1;
    std::tuple<bool, int> best{false, -1};
    for (const auto& [program, workers] : programs) {
      const std::tuple rank{OrderOf(cohort).Holds(program), HoldersOf(cohort, program).workers};
      if (rank <= best) continue;
      best = rank;
      main = program;
    }
    return main;
  }

  // A whole slice is in one program. Slices may rightly be in different programs of
  // a step: only one that is no part of a wholly known step is foreign.
  bool IsForeignToStep(int slice, int cohort, int program, const std::vector<int>& workers) {
    const ProgramOrder& order = OrderOf(cohort);
    if (!order.complete() || order.Holds(program)) return false;
    if (HoldersOf(cohort, program).by_others) return false;
    // Where no cohorts are known, slices that run something else may well be stages of
    // a pipeline: then it is no divergence if a slice holds somebody it waits for.
    const bool given = !topology_.capture().header.cohorts.empty();
    if (!given && AnySliceTorn()) return false;
    // All that wait in it together have no laggard among them.
    return WaitTogether(slice, program) || (given && !MayLag(workers.front(), order));
  }

  // In some slice the cores do not all stand at one place, or some are idle, or a
  // worker is missing: it may hold whoever the others wait for.
  bool AnySliceTorn() {
    if (torn_) return *torn_;
    torn_ = false;
    for (const SliceInfo& info : topology_.slices()) {
      std::set<int> places;  // -1: idle
      const int first = positions_.UnitsOf(info.first).first;
      const int last = positions_.UnitsOf(info.last - 1).second;
      for (int i = first; i < last && places.size() < 2; ++i) {
        const Unit& unit = positions_.unit(i);
        const bool idle = unit.state == UnitState::kIdle;
        if (idle || unit.state == UnitState::kRunning) places.insert(idle ? -1 : unit.place);
      }
      bool hidden = false;
      for (int i = info.first; i < info.last; ++i) {
        hidden = hidden || topology_.worker(i).snapshot == nullptr;
      }
      if (places.size() > 1 || hidden) torn_ = true;
    }
    return *torn_;
  }

  // Hosts of one slice are in different programs, and neither merely lags.
  bool Conflicts(int slice, int cohort, int program, const std::vector<int>& workers, int main,
                 const std::vector<int>& main_workers) const {
    const ProgramOrder& order = OrderOf(cohort);
    if (order.Holds(program)) return false;
    // Whole hosts that wait for their slice in a launch the others have left, or not
    // reached, wait for somebody who will never come.
    if (MeetsInSlice(slice, program) && MeetsInSlice(slice, main)) return true;
    switch (Relate(workers.front(), main_workers.front())) {
      case Relation::kSameSlot:
        return true;
      case Relation::kUnordered:
        // Who waits for another slice may be held up there, in a launch that the
        // others have left.
        return !HoldersOf(cohort, program).by_others &&
               CommonClass(slice, program) != HloClass::kCrossWait;
      case Relation::kBehind:
        return order.complete() && WaitTogether(slice, program);
      case Relation::kAhead:
        return false;
    }
    return false;
  }

  Relation Relate(int worker, int other) const {
    const std::vector<Launch> own = ChainOf(worker);
    const std::vector<Launch> theirs = ChainOf(other);
    if (own.size() > 1 && theirs.size() > 1 && own[1].id && own[1].program == theirs[1].program &&
        own[1].id == theirs[1].id) {
      return Relation::kSameSlot;
    }
    if (Follows(own, theirs.front())) return Relation::kBehind;
    if (Follows(theirs, own.front())) return Relation::kAhead;
    return Relation::kUnordered;
  }

  // `launch`, or an earlier one of its program, has yet to run behind the chain's
  // first.
  static bool Follows(const std::vector<Launch>& chain, const Launch& launch) {
    return std::any_of(chain.begin() + 1, chain.end(), [&](const Launch& queued) {
      return queued.program == launch.program && queued.id && launch.id &&
             SerialDistance(*queued.id, *launch.id) <= 0;
    });
  }

  // Its queue holds a launch of the step that others are in, or have left.
  bool MayLag(int worker, const ProgramOrder& order) const {
    auto furthest = furthest_.find(topology_.worker(worker).cohort);
    if (furthest == furthest_.end()) return false;
    const std::vector<Launch> chain = ChainOf(worker);
    return std::any_of(chain.begin() + 1, chain.end(), [&](const Launch& queued) {
      const auto at = order.Ordinal(queued);
      return at && 2 * *at <= furthest->second;
    });
  }

  // The longest queue of the worker's cores, with what it runs in front.
  std::vector<Launch> ChainOf(int worker) const {
    const auto [first, last] = positions_.UnitsOf(worker);
    std::vector<Launch> longest(1);
    for (int i = first; i < last; ++i) {
      if (positions_.unit(i).state != UnitState::kRunning) continue;
      std::vector<Launch> chain = topology_.Chain(worker, *positions_.unit(i).core);
      const bool better = chain.size() > longest.size() ||
                          (chain.size() == longest.size() && chain.front().id.has_value() &&
                           !longest.front().id.has_value());
      if (better) longest = std::move(chain);
    }
    return longest;
  }

  // All cores of the slice that are in the program stand at one place, which is not
  // known to be anything but a wait.
  bool WaitTogether(int slice, int program) const {
    const HloClass hlo_class = CommonClass(slice, program).value_or(HloClass::kCompute);
    return hlo_class != HloClass::kCompute && hlo_class != HloClass::kInput;
  }

  bool MeetsInSlice(int slice, int program) const {
    return CommonClass(slice, program) == HloClass::kInSliceWait;
  }

  // What they stand at, if it is one place.
  std::optional<HloClass> CommonClass(int slice, int program) const {
    const std::set<int>& places = places_.at({slice, program});
    if (places.size() != 1) return std::nullopt;
    return positions_.place(*places.begin()).hlo_class;
  }

  bool Misordered(int worker) const {
    const ProgramOrder& order = OrderOf(topology_.worker(worker).cohort);
    if (order.empty()) return false;
    const auto [first, last] = positions_.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      std::optional<int64_t> before;
      for (const Launch& launch : topology_.Chain(worker, *positions_.unit(i).core)) {
        const auto at = order.Ordinal(launch);
        if (!at.has_value()) continue;
        if (before.has_value() && *at <= *before) return true;
        before = at;
      }
    }
    return false;
  }

  struct Holders {
    int workers = 0;         // that run, queue or just ran it
    bool by_others = false;  // one of them runs something else
  };
  const Holders& HoldersOf(int cohort, int program) const { return holders_.at({cohort, program}); }

  const Topology& topology_;
  const Positions& positions_;
  Divergence result_;
  // By cohort and two programs: who is in the one, who in the other.
  std::map<std::tuple<int, int, int>, std::pair<std::vector<int>, std::vector<int>>> swapped_;
  std::optional<bool> torn_;                             // nothing: not looked at yet
  std::map<int, int64_t> furthest_;                      // per cohort, as Unit::at
  std::map<std::pair<int, int>, Holders> holders_;       // by cohort, program
  std::map<std::pair<int, int>, std::set<int>> places_;  // by slice, program; up to two
};

}  // namespace

Divergence FindDivergence(const Topology& topology, const Positions& positions) {
  return Finder(topology, positions).Find();
}

}  // namespace rapideye::classifier

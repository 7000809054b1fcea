#include "classifier/divergence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "classifier/other_compilations.h"
#include "classifier/passed_launches.h"
#include "classifier/queue_order.h"

namespace rapideye::classifier {
namespace {

// How the programs of two hosts in one slice relate.
enum class Relation {
  kUnordered,  // the queues do not tell the order of the two
  kSameSlot,   // the same launch follows both, so they take the same slot of the step
  kBehind,     // the first program comes before the second
  kAhead,
};

bool MayBeCrossWait(HloClass hlo_class) {
  return hlo_class == HloClass::kCrossWait || hlo_class == HloClass::kMaybeWait ||
         hlo_class == HloClass::kUnknown;
}

class Finder {
 public:
  Finder(const Topology& topology, const Positions& positions)
      : topology_(topology), positions_(positions) {}

  Divergence Find() {
    const int workers = static_cast<int>(topology_.workers().size());
    result_.is_foreign.assign(static_cast<size_t>(workers), false);
    result_.running.assign(static_cast<size_t>(workers), -1);
    for (int i = 0; i < workers; ++i) NoteWorker(i);
    for (const SliceInfo& slice : topology_.slices()) NoteIdleSlice(slice);
    for (int s = 0; s < static_cast<int>(topology_.slices().size()); ++s) JudgeSlice(s);
    Mark(WorkersOfOtherCompilations(topology_, positions_, result_.running, result_.is_foreign));
    ForgivePassed(topology_, positions_, result_.is_foreign);
    TakeSwapped();
    std::vector<int> by_queues = MisorderedByQueues(topology_, positions_);
    result_.order_proved = !by_queues.empty();
    if (result_.order_proved) result_.misordered = std::move(by_queues);
    std::map<std::pair<int, int>, std::vector<int>> groups;
    for (int i = 0; i < workers; ++i) {
      if (!result_.order_proved && Misordered(i)) result_.misordered.push_back(i);
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
    int queue = -1;  // the one looked at last: the cores of a host nearly always have one queue
    std::set<int> held;
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      for (size_t at = 0; unit.queue != queue && at <= unit.core->queued.size(); ++at) {
        const Launch launch = topology_.LaunchAt(worker, *unit.core, at);
        if (launch.program >= 0) held.insert(launch.program);
      }
      queue = unit.queue;
      if (unit.at && unit.state != UnitState::kIdle) in_step_.insert(cohort);
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

  // A slice that has run out of work has done so within the step. A few idle hosts beside busy ones
  // do not show this: they may be the hosts that hold the others up.
  void NoteIdleSlice(const SliceInfo& slice) {
    const int first = positions_.UnitsOf(slice.first).first;
    const int last = positions_.UnitsOf(slice.last - 1).second;
    for (int i = first; i < last; ++i) {
      if (positions_.unit(i).state != UnitState::kIdle) return;
    }
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      if (unit.at) in_step_.insert(topology_.worker(unit.worker).cohort);
    }
  }

  // For each cohort, compares the programs that whole hosts of the slice are in.
  void JudgeSlice(int slice) {
    std::map<int, std::map<int, std::vector<int>>> cohorts;
    const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
    for (int i = info.first; i < info.last; ++i) {
      if (Running(i) >= 0) cohorts[topology_.worker(i).cohort][Running(i)].push_back(i);
    }
    for (const auto& [cohort, programs] : cohorts) {
      if (programs.size() == 1) {
        const auto& [program, workers] = *programs.begin();
        if (IsForeignToStep(slice, cohort, program, workers) ||
            IsOddAmongSlices(slice, cohort, program)) {
          Mark(workers);
        }
        continue;
      }
      const int main = MainOf(cohort, programs);
      const std::vector<int>& most = programs.at(main);
      for (const auto& [program, workers] : programs) {
        if (program == main || !Conflicts(slice, cohort, program, workers, main, most)) continue;
        // Each host queues the program that the other is in: the same programs in another order.
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

  // Names the workers of the smaller side, counted over all slices that disagree. With equal
  // sides, names those whose queues the rest of the cohort's do not confirm; failing that,
  // one worker of each side.
  void TakeSwapped() {
    for (auto& [programs, sides] : swapped_) {
      auto& [one, other] = sides;
      if (one.size() == other.size()) {
        const int cohort = std::get<0>(programs);
        const int votes = VotesFor(RunningChain(topology_, positions_, one.front()), cohort) -
                          VotesFor(RunningChain(topology_, positions_, other.front()), cohort);
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

  // Counts workers that were given the first two launches of `chain` in direct succession, or the
  // same two programs in another step.
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
      const std::vector<Launch> given = RunningChain(topology_, positions_, i);
      votes += std::adjacent_find(given.begin(), given.end(), follows) == given.end() ? 0 : 1;
    }
    return votes;
  }

  bool Holds(int worker, int program) const {
    const std::vector<Launch> chain = RunningChain(topology_, positions_, worker);
    return std::any_of(chain.begin(), chain.end(),
                       [&](const Launch& launch) { return launch.program == program; });
  }

  void Mark(const std::vector<int>& workers) {
    for (int worker : workers) result_.is_foreign[static_cast<size_t>(worker)] = true;
  }

  // Workers outside of the slice do not run or queue `program`, but they run or queue another
  // program that the slice is in, or that other program alone is part of the step.
  bool LeftByTheCohort(int cohort, int program,
                       const std::map<int, std::vector<int>>& programs) const {
    const auto outside = [&](int one, const std::vector<int>& workers) {
      return HoldersOf(cohort, one).workers > static_cast<int>(workers.size());
    };
    const ProgramOrder& order = OrderOf(cohort);
    if (outside(program, programs.at(program))) return false;
    return std::any_of(programs.begin(), programs.end(), [&](const auto& entry) {
      const bool of_step = order.Holds(entry.first) && !order.Holds(program);
      return entry.first != program && (of_step || outside(entry.first, entry.second));
    });
  }

  // Prefers a program of the step, then the program of most of the cohort's workers. It never
  // counts workers of this slice alone, or two slices would choose different sides.
  // Only if a single slice is split, its own majority decides: hosts of other slices may rightly be
  // elsewhere.
  int MainOf(int cohort, const std::map<int, std::vector<int>>& programs) {
    FindSplitSlices();
    size_t all = 0;
    for (const auto& [program, workers] : programs) all += workers.size();
    for (const auto& [program, workers] : programs) {
      if (split_slices_ == 1 && 3 * (all - workers.size()) <= all &&
          !LeftByTheCohort(cohort, program, programs)) {
        return program;
      }
    }
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

  // Judges a whole slice that is in one program. Slices may rightly be in different programs of
  // a step: a program is foreign only if the step is wholly known without it, and if another
  // slice is in the step now. The slice must stand together at a wait that another slice can
  // end: a slice that computes, or waits within itself, is held up there, whatever it runs.
  bool IsForeignToStep(int slice, int cohort, int program, const std::vector<int>& workers) {
    const ProgramOrder& order = OrderOf(cohort);
    if (!order.complete() || order.Holds(program)) return false;
    if (HoldersOf(cohort, program).by_others) return false;
    // A slice whose hosts disagree over this very program holds the odd host; this slice waits for
    // that one. And a slice that lacks a host waits for the missing host.
    if (IsSplitOver(program) || LacksHost(slice)) return false;
    // Without known cohorts, slices that run other programs may be stages of a pipeline:
    // that is no divergence if some slice holds a host for which its own cores wait.
    const bool given = !topology_.capture().header.cohorts.empty();
    if (!given && AnySliceTorn()) return false;
    if (!in_step_.contains(cohort) || !AnotherMayAwait(slice, cohort)) return false;
    return MayMeetAnotherSlice(slice, program) ||
           (WaitTogether(slice, program) && NeverReturns(workers.front(), order));
  }

  // The slice holds a host that sent no snapshot and that no probe reaches.
  bool LacksHost(int slice) const {
    const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
    for (int i = info.first; i < info.last; ++i) {
      if (topology_.worker(i).snapshot == nullptr && IsOutOfReach(i)) {
        return true;
      }
    }
    return false;
  }

  bool IsOutOfReach(int worker) const { return IsProbed(worker, false) && !IsReached(worker); }

  bool IsReached(int worker) const { return IsProbed(worker, true); }

  bool IsProbed(int worker, bool ok) const {
    const WorkerId id = topology_.worker(worker).id;
    const auto& snapshots = topology_.capture().snapshots;
    return std::any_of(snapshots.begin(), snapshots.end(), [&](const Snapshot& snapshot) {
      return std::any_of(snapshot.probes.begin(), snapshot.probes.end(),
                         [&](const Probe& probe) { return probe.peer == id && probe.ok == ok; });
    });
  }

  // In some slice, hosts are in this program while other hosts of it are in another one.
  bool IsSplitOver(int program) {
    FindSplitSlices();
    return split_over_->contains(program);
  }

  void FindSplitSlices() {
    if (!split_over_.has_value()) {
      split_over_.emplace();
      for (const SliceInfo& info : topology_.slices()) {
        std::set<int> programs;
        for (int i = info.first; i < info.last; ++i) {
          if (Running(i) >= 0) programs.insert(Running(i));
        }
        if (programs.size() < 2) continue;
        split_over_->insert(programs.begin(), programs.end());
        ++split_slices_;
      }
    }
  }

  // A worker of another slice is in the step, or has run out of work, and its place is one at which
  // it can wait for another slice.
  bool AnotherMayAwait(int slice, int cohort) const {
    for (const Unit& unit : positions_.units()) {
      const WorkerInfo& worker = topology_.worker(unit.worker);
      if (worker.slice == slice || worker.cohort != cohort || !unit.at) continue;
      if (unit.state != UnitState::kRunning) return true;
      if (MayBeCrossWait(positions_.place(unit.place).hlo_class)) return true;
    }
    return false;
  }

  // The worker has further launches queued, and none of them is of the step.
  bool NeverReturns(int worker, const ProgramOrder& order) const {
    const std::vector<Launch> chain = RunningChain(topology_, positions_, worker);
    return chain.size() > 1 && std::none_of(chain.begin(), chain.end(), [&](const Launch& launch) {
             return order.Holds(launch.program);
           });
  }

  // All other slices, two or more, are in one program, and this slice in another one of the same
  // module, and neither program is held elsewhere. This needs no order: stages of a pipeline would
  // differ in more than one slice, and the programs of one step differ in their modules.
  bool IsOddAmongSlices(int slice, int cohort, int program) {
    const ProgramInfo& own = topology_.programs()[static_cast<size_t>(program)];
    if (own.module.empty() || HoldersOf(cohort, program).by_others) return false;
    if (!MayMeetAnotherSlice(slice, program) || AnySliceTorn()) return false;
    int other = -1;
    int others = 0;
    for (int s = 0; s < static_cast<int>(topology_.slices().size()); ++s) {
      if (s == slice) continue;
      const int theirs = ProgramOfSlice(s, cohort);
      if (theirs < 0 || theirs == program || (other >= 0 && theirs != other)) return false;
      if (!MayMeetAnotherSlice(s, theirs)) return false;
      other = theirs;
      ++others;
    }
    return others >= 2 && topology_.programs()[static_cast<size_t>(other)].module == own.module &&
           !HoldersOf(cohort, other).by_others;
  }

  // -1: the slice is in several programs, in none, or has workers of another cohort.
  int ProgramOfSlice(int slice, int cohort) const {
    const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
    int program = -1;
    for (int i = info.first; i < info.last; ++i) {
      if (topology_.worker(i).cohort != cohort || Running(i) < 0) return -1;
      if (program >= 0 && program != Running(i)) return -1;
      program = Running(i);
    }
    return program;
  }

  // In some slice the cores do not all stand at one place, or some are idle, or a worker is
  // missing: that slice may hold the head for which the others wait.
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

  // Hosts of one slice are in different programs, and neither side is merely behind.
  bool Conflicts(int slice, int cohort, int program, const std::vector<int>& workers, int main,
                 const std::vector<int>& main_workers) const {
    const ProgramOrder& order = OrderOf(cohort);
    if (order.Holds(program)) return false;
    // Mesh groups without the idle host pass a launch in which the others wait for that host.
    if (HoldsIdleHost(slice)) return false;
    // Whole hosts that wait for their slice, in a launch that the others have left or not
    // reached, wait for mates that will never come.
    if (MeetsInSlice(slice, program) && MeetsInSlice(slice, main)) return true;
    switch (Relate(workers.front(), main_workers.front())) {
      case Relation::kSameSlot:
        return true;
      case Relation::kUnordered:
        // A host that waits for another slice may be held up there, in a launch that the
        // others have left; hosts that do not stand together may be held up by one of their own.
        return !HoldersOf(cohort, program).by_others && WaitTogether(slice, program) &&
               CommonClass(slice, program) != HloClass::kCrossWait;
      case Relation::kBehind:
        return order.complete() && WaitTogether(slice, program);
      case Relation::kAhead:
        return false;
    }
    return false;
  }

  bool HoldsIdleHost(int slice) const {
    const SliceInfo& info = topology_.slices()[static_cast<size_t>(slice)];
    for (int worker = info.first; worker < info.last; ++worker) {
      const auto [first, last] = positions_.UnitsOf(worker);
      bool idle = first != last;
      for (int i = first; i < last; ++i) {
        idle = idle && positions_.unit(i).state == UnitState::kIdle;
      }
      if (idle) return true;
    }
    return false;
  }

  Relation Relate(int worker, int other) const {
    const std::vector<Launch> own = RunningChain(topology_, positions_, worker);
    const std::vector<Launch> theirs = RunningChain(topology_, positions_, other);
    if (own.size() > 1 && theirs.size() > 1 && own[1].id && own[1].program == theirs[1].program &&
        own[1].id == theirs[1].id) {
      return Relation::kSameSlot;
    }
    if (Follows(own, theirs.front())) return Relation::kBehind;
    if (Follows(theirs, own.front())) return Relation::kAhead;
    return Relation::kUnordered;
  }

  // True if `launch`, or an earlier one of its program, stands in the queue behind the launch that
  // runs.
  static bool Follows(const std::vector<Launch>& chain, const Launch& launch) {
    return std::any_of(chain.begin() + 1, chain.end(), [&](const Launch& queued) {
      return queued.program == launch.program && queued.id && launch.id &&
             SerialDistance(*queued.id, *launch.id) <= 0;
    });
  }

  // All cores of the slice that are in the program stand at one place, and that place may
  // be a wait.
  bool WaitTogether(int slice, int program) const {
    const HloClass hlo_class = CommonClass(slice, program).value_or(HloClass::kCompute);
    return hlo_class != HloClass::kCompute && hlo_class != HloClass::kInput;
  }

  bool MayMeetAnotherSlice(int slice, int program) const {
    return MayBeCrossWait(CommonClass(slice, program).value_or(HloClass::kCompute));
  }

  bool MeetsInSlice(int slice, int program) const {
    return CommonClass(slice, program) == HloClass::kInSliceWait;
  }

  // The class of the place at which the slice's cores in the program stand, if it is one place.
  std::optional<HloClass> CommonClass(int slice, int program) const {
    const std::set<int>& places = places_.at({slice, program});
    if (places.size() != 1) return std::nullopt;
    return positions_.place(*places.begin()).hlo_class;
  }

  bool Misordered(int worker) const {
    const ProgramOrder& order = OrderOf(topology_.worker(worker).cohort);
    if (order.empty()) return false;
    const auto [first, last] = positions_.UnitsOf(worker);
    int queue = -1;
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      if (unit.queue == queue) continue;
      queue = unit.queue;
      std::optional<int64_t> before;
      for (size_t slot = 0; slot <= unit.core->queued.size(); ++slot) {
        const auto at = order.Ordinal(topology_.LaunchAt(worker, *unit.core, slot));
        if (!at.has_value()) continue;
        if (before.has_value() && *at <= *before) return true;
        before = at;
      }
    }
    return false;
  }

  struct Holders {
    int workers = 0;         // that run, queue or just ran it
    bool by_others = false;  // one of them runs another program
  };
  const Holders& HoldersOf(int cohort, int program) const { return holders_.at({cohort, program}); }

  const Topology& topology_;
  const Positions& positions_;
  Divergence result_;
  // By cohort and two programs: the workers in the first one, and those in the second.
  std::map<std::tuple<int, int, int>, std::pair<std::vector<int>, std::vector<int>>> swapped_;
  std::optional<bool> torn_;                 // absent: not looked at yet
  std::optional<std::set<int>> split_over_;  // likewise: programs over which slices are split
  int split_slices_ = 0;                     // once split_over_ is known
  std::set<int> in_step_;                    // cohorts with a worker in a step or between two
  std::map<std::pair<int, int>, Holders> holders_;       // by cohort, program
  std::map<std::pair<int, int>, std::set<int>> places_;  // by slice, program; up to two
};

}  // namespace

Divergence FindDivergence(const Topology& topology, const Positions& positions) {
  return Finder(topology, positions).Find();
}

}  // namespace rapideye::classifier

#include "classifier/programs/split_slice.h"

#include <algorithm>

#include "classifier/programs/passed_launches.h"

namespace rapideye::classifier {
namespace {

// Relation of the programs of two hosts in one slice.
enum class Relation {
  kUnordered,  // the queues do not tell the order of the two
  kSameSlot,   // the same launch follows both, so they take the same slot of the step
  kBehind,     // the first program comes before the second
  kAhead,
};

// True if `launch`, or an earlier one of its program, stands in the queue behind the launch that
// runs.
bool Follows(const std::vector<Launch>& chain, const Launch& launch) {
  return std::any_of(chain.begin() + 1, chain.end(), [&](const Launch& queued) {
    return queued.program == launch.program && queued.id && launch.id &&
           SerialDistance(*queued.id, *launch.id) <= 0;
  });
}

Relation Relate(const Positions& positions, int worker, int other) {
  const std::vector<Launch>& own = positions.RunningChain(worker);
  const std::vector<Launch>& theirs = positions.RunningChain(other);
  if (own.size() > 1 && theirs.size() > 1 && own[1].id && own[1].program == theirs[1].program &&
      own[1].id == theirs[1].id) {
    return Relation::kSameSlot;
  }
  if (Follows(own, theirs.front())) return Relation::kBehind;
  if (Follows(theirs, own.front())) return Relation::kAhead;
  return Relation::kUnordered;
}

void Append(std::vector<int>& to, const std::vector<int>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<int> SplitSlices::Judge(int slice, int cohort, const ByProgram& programs) {
  std::vector<int> foreign;
  const int main = MainOf(cohort, programs);
  const std::vector<int>& most = programs.at(main);
  for (const auto& [program, workers] : programs) {
    if (program == main || !Conflicts(slice, cohort, program, workers, main, most)) continue;
    // Each host queues the program that the other is in: the same programs in another order.
    if (Holds(workers.front(), main) && Holds(most.front(), program)) {
      auto& [one, other] = swapped_[{cohort, std::min(program, main), std::max(program, main)}];
      Append(one, program < main ? workers : most);
      Append(other, program < main ? most : workers);
    } else {
      Append(foreign, workers);
    }
  }
  return foreign;
}

std::vector<int> SplitSlices::Swapped() {
  std::vector<int> odd;
  for (auto& [programs, sides] : swapped_) {
    auto& [one, other] = sides;
    if (one.size() == other.size()) {
      KeepConfirmed(std::get<0>(programs), sides);
      Append(odd, one.empty() ? other : one);
    } else {
      Append(odd, one.size() <= other.size() ? one : other);
    }
  }
  return odd;
}

void SplitSlices::KeepConfirmed(int cohort, Sides& sides) const {
  auto& [one, other] = sides;
  const int votes = VotesFor(positions_.RunningChain(one.front()), cohort) -
                    VotesFor(positions_.RunningChain(other.front()), cohort);
  if (votes > 0) {
    one.clear();
  } else if (votes < 0) {
    other.clear();
  } else {
    one.resize(1);
    one.push_back(other.front());
    other = one;
  }
}

int SplitSlices::VotesFor(const std::vector<Launch>& chain, int cohort) const {
  if (chain.size() < 2 || !chain[0].id || !chain[1].id) return 0;
  const auto follows = [&](const Launch& first, const Launch& second) {
    return first.program == chain[0].program && second.program == chain[1].program && first.id &&
           second.id &&
           SerialDistance(*second.id, *first.id) == SerialDistance(*chain[1].id, *chain[0].id);
  };
  int votes = 0;
  for (int i = 0; i < static_cast<int>(topology_.workers().size()); ++i) {
    if (topology_.worker(i).cohort != cohort) continue;
    const std::vector<Launch>& given = positions_.RunningChain(i);
    votes += std::adjacent_find(given.begin(), given.end(), follows) == given.end() ? 0 : 1;
  }
  return votes;
}

bool SplitSlices::Holds(int worker, int program) const {
  const std::vector<Launch>& chain = positions_.RunningChain(worker);
  return std::any_of(chain.begin(), chain.end(),
                     [&](const Launch& launch) { return launch.program == program; });
}

bool SplitSlices::LeftByTheCohort(int cohort, int program, const ByProgram& programs) const {
  const auto outside = [&](int one, const std::vector<int>& workers) {
    return use_.HoldersOf(cohort, one).workers > static_cast<int>(workers.size());
  };
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(cohort)].order;
  if (outside(program, programs.at(program))) return false;
  return std::any_of(programs.begin(), programs.end(), [&](const auto& entry) {
    const bool of_step = order.Holds(entry.first) && !order.Holds(program);
    return entry.first != program && (of_step || outside(entry.first, entry.second));
  });
}

int SplitSlices::MainOf(int cohort, const ByProgram& programs) const {
  size_t all = 0;
  for (const auto& [program, workers] : programs) all += workers.size();
  for (const auto& [program, workers] : programs) {
    if (use_.split_slices() == 1 && 3 * (all - workers.size()) <= all &&
        !LeftByTheCohort(cohort, program, programs)) {
      return program;
    }
  }
  int main = -1;
  std::tuple<bool, int, bool> best{false, -1, false};
  for (const auto& [program, workers] : programs) {
    const std::tuple rank{topology_.cohorts()[static_cast<size_t>(cohort)].order.Holds(program),
                          use_.HoldersOf(cohort, program).workers,
                          WasRunByOthers(program, programs)};
    if (rank <= best) continue;
    best = rank;
    main = program;
  }
  return main;
}

bool SplitSlices::Conflicts(int slice, int cohort, int program, const std::vector<int>& workers,
                            int main, const std::vector<int>& main_workers) const {
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(cohort)].order;
  if (order.Holds(program)) return false;
  // Mesh groups without the idle host pass a launch in which the others wait for that host.
  if (HoldsIdleHost(slice)) return false;
  // Whole hosts that wait for their slice, in a launch that the others have left or not
  // reached, wait for mates that will never come.
  if (use_.MeetsInSlice(slice, program) && use_.MeetsInSlice(slice, main)) return true;
  switch (Relate(positions_, workers.front(), main_workers.front())) {
    case Relation::kSameSlot:
      return true;
    case Relation::kUnordered:
      // Several evaluations in a row are no other compilation of the step.
      if (AreOneModule(program, main) && IsGivenInstead(workers.front(), program, main) &&
          IsGivenInstead(main_workers.front(), main, program)) {
        return true;
      }
      // A host that waits for another slice may be held up there, in a launch that the
      // others have left; hosts that do not stand together may be held up by one of their own.
      return !use_.HoldersOf(cohort, program).by_others && use_.WaitTogether(slice, program) &&
             use_.CommonClass(slice, program) != HloClass::kCrossWait;
    case Relation::kBehind:
      return order.complete() && use_.WaitTogether(slice, program);
    case Relation::kAhead:
      return false;
  }
  return false;
}

bool SplitSlices::AreOneModule(int program, int other) const {
  const std::vector<ProgramInfo>& programs = topology_.programs();
  const std::string_view module = programs[static_cast<size_t>(program)].module;
  return !module.empty() && module == programs[static_cast<size_t>(other)].module;
}

bool SplitSlices::IsGivenInstead(int worker, int program, int other) const {
  const std::vector<Launch>& chain = positions_.RunningChain(worker);
  return std::any_of(chain.begin() + 1, chain.end(),
                     [&](const Launch& launch) { return launch.program == program; }) &&
         !Holds(worker, other);
}

bool SplitSlices::WasRunByOthers(int program, const ByProgram& programs) const {
  return std::any_of(programs.begin(), programs.end(), [&](const auto& entry) {
    if (entry.first == program) return false;
    const std::vector<Launch> seen = LaunchesSeen(topology_, positions_, entry.second.front());
    return std::any_of(seen.begin(), seen.end(),
                       [&](const Launch& launch) { return launch.program == program; });
  });
}

bool SplitSlices::HoldsIdleHost(int slice) const {
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

}  // namespace rapideye::classifier

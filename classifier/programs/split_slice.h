// SplitSlices judges slices whose hosts are in different programs.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_SPLIT_SLICE_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_SPLIT_SLICE_H_

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "classifier/programs/program_use.h"

namespace rapideye::classifier {

class SplitSlices {
 public:
  // The workers of a slice and cohort by the program that all their running cores are in.
  using ByProgram = std::map<int, std::vector<int>>;

  SplitSlices(const Topology& topology, const Positions& positions, const ProgramUse& use)
      : topology_(topology), positions_(positions), use_(use) {}

  // Returns the workers whose program the rest of the slice, in `programs`, can never meet.
  std::vector<int> Judge(int slice, int cohort, const ByProgram& programs);

  // Returns workers that hold two programs in another order than the rest: those of the smaller
  // side, counted over all slices judged. With equal sides, those whose queues the rest of the
  // cohort's do not confirm; failing that, one worker of each side. Call it once.
  std::vector<int> Swapped();

 private:
  // By two programs: the workers in the first one, and those in the second.
  using Sides = std::pair<std::vector<int>, std::vector<int>>;

  // Prefers a program of the step, then the program of most of the cohort's workers, then one that
  // workers which are now in another program were seen in. It never
  // counts workers of this slice alone, or two slices would choose different sides.
  // Only if a single slice is split, its own majority decides: hosts of other slices may rightly be
  // elsewhere.
  int MainOf(int cohort, const ByProgram& programs) const;

  // Workers outside of the slice do not run or queue `program`, but they run or queue another
  // program that the slice is in, or that other program alone is part of the step.
  bool LeftByTheCohort(int cohort, int program, const ByProgram& programs) const;

  // Hosts of one slice are in different programs, and neither side is merely behind.
  bool Conflicts(int slice, int cohort, int program, const std::vector<int>& workers, int main,
                 const std::vector<int>& main_workers) const;
  bool HoldsIdleHost(int slice) const;
  bool Holds(int worker, int program) const;
  // Polls saw a worker in it that is now in another of these programs.
  bool WasRunByOthers(int program, const ByProgram& programs) const;
  bool AreOneModule(int program, int other) const;
  // Its queue holds the program again, and the other one nowhere.
  bool IsGivenInstead(int worker, int program, int other) const;

  // Of two equal sides, empties the one that queues of the cohort confirm. If none does so, leaves
  // one worker of each side in both.
  void KeepConfirmed(int cohort, Sides& sides) const;

  // Counts workers that were given the first two launches of `chain` in direct succession, or the
  // same two programs in another step.
  int VotesFor(const std::vector<Launch>& chain, int cohort) const;

  const Topology& topology_;
  const Positions& positions_;
  const ProgramUse& use_;
  std::map<std::tuple<int, int, int>, Sides> swapped_;  // by cohort and two programs
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_SPLIT_SLICE_H_

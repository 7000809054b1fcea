// ProgramUse tells which programs the workers of a job run and hold, and where in them they stand.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_PROGRAM_USE_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_PROGRAM_USE_H_

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "classifier/job/hlo_class.h"
#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// Workers of a cohort that run, queue or just ran a program.
struct Holders {
  int workers = 0;
  bool by_others = false;  // one of them runs another program
};

class ProgramUse {
 public:
  ProgramUse(const Topology& topology, const Positions& positions);

  // The program that all running units of the worker are in; -1: no such program, or several.
  int Running(int worker) const { return running_[static_cast<size_t>(worker)]; }
  const std::vector<int>& running() const { return running_; }
  // Some worker of the cohort runs or queues the program.
  const Holders& HoldersOf(int cohort, int program) const { return holders_.at({cohort, program}); }
  // A worker of the cohort is in a step, or its slice has run out of work between two.
  bool InStep(int cohort) const { return in_step_[static_cast<size_t>(cohort)]; }

  // In some slice, hosts are in this program while other hosts of it are in another one.
  bool IsSplitOver(int program) const { return split_over_[static_cast<size_t>(program)]; }
  int split_slices() const { return split_slices_; }
  // In some slice the cores do not all stand at one place, or some are idle, or a worker is
  // missing: that slice may hold the head for which the others wait.
  bool AnySliceTorn() const { return torn_; }

  // A worker of another slice is in the step, and its place is one at which it can wait for another
  // slice. A worker that has run out of work may yet be given the launch in which others are.
  bool AnotherMayAwait(int slice, int cohort) const;
  // The program that a whole slice is in. -1: it is in several programs, in none, or has workers of
  // another cohort.
  int ProgramOfSlice(int slice, int cohort) const;

  // All cores of the slice that are in the program stand at one place, and that place may
  // be a wait.
  bool WaitTogether(int slice, int program) const;
  bool MayMeetAnotherSlice(int slice, int program) const;
  bool MeetsInSlice(int slice, int program) const;

  // The class of the place at which the slice's cores in the program stand, if it is one place.
  std::optional<HloClass> CommonClass(int slice, int program) const;

 private:
  void NoteWorker(int worker);

  // A slice that has run out of work has done so within the step. A few idle hosts beside busy ones
  // do not show this: they may be the hosts that hold the others up.
  void NoteIdleSlice(const SliceInfo& slice);
  void NotePrograms(const SliceInfo& slice);
  void NoteMayAwait(int cohort, int slice);
  bool IsTorn(const SliceInfo& slice) const;

  const Topology& topology_;
  const Positions& positions_;
  std::vector<int> running_;      // by worker
  std::vector<bool> in_step_;     // by cohort
  std::vector<bool> split_over_;  // by program
  std::vector<int> of_slice_;     // by slice: its one program, or -1
  int split_slices_ = 0;
  bool torn_ = false;
  absl::flat_hash_map<std::pair<int, int>, Holders> holders_;  // by cohort, program
  // By cohort, up to two slices with a worker that may wait for another slice; -1: none.
  std::vector<std::array<int, 2>> may_await_;
  // By slice and program, up to two places; -1: none.
  absl::flat_hash_map<std::pair<int, int>, std::array<int, 2>> places_;
  std::vector<int> held_;  // memory for the programs of one worker after the other
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_PROGRAM_USE_H_

// OddSlices judges whole slices that are in one program, against the rest of the job.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_ODD_SLICE_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_ODD_SLICE_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "classifier/programs/program_use.h"

namespace rapideye::classifier {

class OddSlices {
 public:
  OddSlices(const Topology& topology, const Positions& positions, const ProgramUse& use);

  // Judges a whole slice that is in one program. Slices may rightly be in different programs of
  // a step: a program is foreign only if the step is wholly known without it, and if another
  // slice is in the step now. The slice must stand together at a wait that another slice can
  // end: a slice that computes, or waits within itself, is held up there, whatever it runs.
  bool IsForeignToStep(int slice, int cohort, int program, const std::vector<int>& workers) const;

  // All other slices, two or more, are in one program, and this slice in another one of the same
  // module, and neither program is held elsewhere. This needs no order: stages of a pipeline would
  // differ in more than one slice, and the programs of one step differ in their modules.
  bool IsOddAmongSlices(int slice, int cohort, int program) const;

 private:
  // The worker has further launches queued, and none of them is of the step.
  bool NeverReturns(int worker, const ProgramOrder& order) const;

  // The slices, but for one, that are as a whole in a program of the cohort's step. Where no
  // cohorts are known, a step that one slice alone makes may be that of a stage of a pipeline.
  int SlicesInStep(int but, int cohort) const;

  const Topology& topology_;
  const Positions& positions_;
  const ProgramUse& use_;
  // By slice: it holds a host that sent no snapshot and that no probe reaches.
  std::vector<bool> lacks_host_;
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_ODD_SLICE_H_

// HeadsOfSliceGroup builds the part of the wait graph inside one slice: which of its cores all
// others wait for.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_SLICE_HEADS_H_
#define RAPIDEYE_CLASSIFIER_WAIT_SLICE_HEADS_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/wait/slice_group.h"
#include "classifier/wait/wait_graph.h"

namespace rapideye::classifier {

// The heads, by the units that stand elsewhere than most. Fills `view`, and
// `ahead` with workers that are past a launch in which their slice waits.
std::vector<Head> HeadsOfSliceGroup(const Positions& positions, const SliceGroup& group,
                                    SliceView& view, std::vector<int>& ahead);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_SLICE_HEADS_H_

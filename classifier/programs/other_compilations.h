// WorkersOfOtherCompilations finds workers whose program is another compilation of the one that
// their mates run.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_OTHER_COMPILATIONS_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_OTHER_COMPILATIONS_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// Two programs of one module, in launches of one id, are one launch that was compiled twice: the
// launch id of a program counts from an arbitrary start, so that two programs of a step do not
// share one by chance. The places of the cores do not matter: where the groups of a mesh go on by
// themselves, cores of one program stand at several.
//
// `running`: per worker, the program that all its running cores are in; -1: none, or several.
// `marked`: per worker, true if it is known to have diverged.
// Returns the workers of all compilations but the usual one, sorted. The usual one is that of
// most workers, but not that of a marked one; of compilations that are as common, the one of
// the cohort's order, then the one whose first worker is lower. Where no cohorts are known,
// slices that each run one program may be the stages of a pipeline: these are compared only if
// a single slice differs from two others or more.
std::vector<int> WorkersOfOtherCompilations(const Topology& topology, const Positions& positions,
                                            const std::vector<int>& running,
                                            const std::vector<bool>& marked);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_OTHER_COMPILATIONS_H_

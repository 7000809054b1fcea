// PassedLaunches knows which launches workers have been in and left.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_PASSED_LAUNCHES_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_PASSED_LAUNCHES_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// The launches in which polls saw a worker, oldest first, by the core that shows most of them.
std::vector<Launch> LaunchesSeen(const Topology& topology, const Positions& positions, int worker);

// True if polls saw the worker in the launch in which the other one is, and then in a later one.
bool HasPassed(const Topology& topology, const Positions& positions, int worker, int other);

// True if all of the cohort's workers in other slices of which a launch is known are in that of
// this worker, or have ended it as their last. Old runtimes tell no launch id: programs decide
// there.
bool OtherSlicesHaveReached(const Topology& topology, const Positions& positions, int worker);

// True if polls saw some worker of the cohort in the launch in which the other one is, and later in
// that in which this one is: the others were given the two in this order.
bool ComesLater(const Topology& topology, const Positions& positions, int worker, int other);

// Clears the mark of each marked worker that is merely behind or ahead. A worker in a launch that
// its unmarked mates have been in and left was given the same launches as they were. Its
// mates are those of its slice. If none of them is in a launch, the mates are those of its cohort;
// then a worker that has left every launch in which these stand was given the same, too.
void ForgivePassed(const Topology& topology, const Positions& positions, std::vector<bool>& marked);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_PASSED_LAUNCHES_H_

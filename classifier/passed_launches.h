// PassedLaunches knows which launches workers have been in and left.
#ifndef RAPIDEYE_CLASSIFIER_PASSED_LAUNCHES_H_
#define RAPIDEYE_CLASSIFIER_PASSED_LAUNCHES_H_

#include <vector>

#include "classifier/positions.h"
#include "classifier/topology.h"

namespace rapideye::classifier {

// The launches that its polls saw a worker in, oldest first, by the core that shows most.
std::vector<Launch> LaunchesSeen(const Topology& topology, const Positions& positions, int worker);

// Clears the mark of each marked worker that is merely behind or ahead. Whoever stands in a
// launch that its mates, who are not marked, have been in and left was given what they were given.
// Its mates are those of its slice. Where none of them is in a launch they are those of its cohort;
// then whoever has left every launch that these stand in was given the same, too.
void ForgivePassed(const Topology& topology, const Positions& positions, std::vector<bool>& marked);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PASSED_LAUNCHES_H_

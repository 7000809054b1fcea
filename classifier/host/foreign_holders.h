// Finds the processes that hold chips which the job wants.
#ifndef RAPIDEYE_CLASSIFIER_HOST_FOREIGN_HOLDERS_H_
#define RAPIDEYE_CLASSIFIER_HOST_FOREIGN_HOLDERS_H_

#include <vector>

#include "classifier/job/topology.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// The chip holders that the agents found, and those that keep a worker from its first launch, each
// once, by worker and pid; at most a thousand. Left out is what may be the job itself: the holders
// of a worker whose training process is not known, unless its age shows that the holder is a
// leftover, and the training processes of other workers of the same host.
std::vector<ForeignHolder> FindForeignHolders(const Topology& topology);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_FOREIGN_HOLDERS_H_

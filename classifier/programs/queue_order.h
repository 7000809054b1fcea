// MisorderedByQueues finds workers that launch the same programs in another order than the rest.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_QUEUE_ORDER_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_QUEUE_ORDER_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// Two queues that hold the same two launches in opposite order prove a wrong order without any
// learnt order; so do two queues of which only one holds another launch between the two. Returns
// the workers of the odd sides, or of both where neither is odd. A worker may be there repeatedly.
std::vector<int> MisorderedByQueues(const Topology& topology, const Positions& positions);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_QUEUE_ORDER_H_

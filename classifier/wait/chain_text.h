// Describes the chain of waiting cores in sentences, one per group of slices.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_CHAIN_TEXT_H_
#define RAPIDEYE_CLASSIFIER_WAIT_CHAIN_TEXT_H_

#include <string>
#include <vector>

#include "classifier/wait/wait_graph.h"

namespace rapideye::classifier {

// "slice 1 task 2 (host) with chip 0 TensorCore 0": the name of a head.
std::string HeadName(const Topology& topology, const Positions& positions, const Head& head);

// States which cores wait for which, one sentence per group of slices in the same state, and
// why each head is one. At most kMaxChainLines of either, for any size of job.
std::vector<Reason> TellChain(const Topology& topology, const Positions& positions,
                              const Divergence& divergence, const WaitGraph& graph);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_CHAIN_TEXT_H_

// The chain of waiting as sentences, group by group.
#ifndef RAPIDEYE_CLASSIFIER_CHAIN_TEXT_H_
#define RAPIDEYE_CLASSIFIER_CHAIN_TEXT_H_

#include <string>
#include <vector>

#include "classifier/wait_graph.h"

namespace rapideye::classifier {

// "slice 1 task 2 (host) with chip 0 TensorCore 0": who a head is.
std::string HeadName(const Topology& topology, const Positions& positions, const Head& head);

// Who waits for whom, one sentence per group of slices that stand alike, and why
// each head is one. At most kMaxChainLines of either, however large the job.
std::vector<Reason> TellChain(const Topology& topology, const Positions& positions,
                              const Divergence& divergence, const WaitGraph& graph);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_CHAIN_TEXT_H_

// BuildChain derives the chain of a verdict from the wait graph that the verdict rests on.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_CHAIN_BUILDER_H_
#define RAPIDEYE_CLASSIFIER_DECISION_CHAIN_BUILDER_H_

#include "classifier/findings/finding.h"
#include "classifier/verdict/verdict.h"
#include "classifier/verdict/wait_chain.h"

namespace rapideye::classifier {

// A core waits for what the graph took it to wait for (WaitGraph::unit_waits); the
// heads are the culprits of the verdict, whatever rule found them, with the ends of its broken
// links. A verdict without culprits has groups and no edges: nothing shows a direction. Total;
// takes time near-linear in the number of cores.
WaitChain BuildChain(const Case& c, const Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_CHAIN_BUILDER_H_

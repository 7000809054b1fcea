// Sets the runtime's own verdict on a hang, as its log tells it, beside the classifier's.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_RUNTIME_VERDICT_H_
#define RAPIDEYE_CLASSIFIER_DECISION_RUNTIME_VERDICT_H_

#include "classifier/job/topology.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// Megascale's coordinator logs the cause that it assumes for a hang, and names hosts. Sets
// `runtime_verdict`, and adds one sentence of weak evidence with that cause, and whether it agrees.
// It decides nothing, because a line in the job's log knows less. Adds nothing to a verdict without
// a hang.
void AddRuntimeVerdict(const Topology& topology, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_RUNTIME_VERDICT_H_

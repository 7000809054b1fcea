// Sets the runtime's own verdict on a hang, as its log tells it, beside the classifier's.
#ifndef RAPIDEYE_CLASSIFIER_RUNTIME_VERDICT_H_
#define RAPIDEYE_CLASSIFIER_RUNTIME_VERDICT_H_

#include "classifier/topology.h"
#include "classifier/verdict.h"

namespace rapideye::classifier {

// Megascale's coordinator writes which cause it takes a hang to have, and names hosts. Adds
// one sentence of weak evidence that says so, and whether it agrees. It decides nothing: it
// is a line in the log of the job, and knows less. Nothing is added where no hang is.
void AddRuntimeVerdict(const Topology& topology, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_RUNTIME_VERDICT_H_

// JudgeRemoval decides which removals a single capture, without any history, allows.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_REMOVAL_H_
#define RAPIDEYE_CLASSIFIER_DECISION_REMOVAL_H_

#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// Two findings allow removal at once: a bad chip with a fatal PCIe error or a
// kernel hardware error on that same chip, and a host about whose network both its own side
// and its peers' probes agree. `removable`: the targets for which the rule found
// evidence from outside the job's reach; `reason` says why that is so, or, with nothing to remove,
// why there is no target. Everything else is watched, and the reason says why.
Removal JudgeRemoval(const Verdict& verdict, std::vector<RemovalTarget> removable,
                     const std::string& reason);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_REMOVAL_H_

// JudgeRemoval decides what a single capture, without any history, allows to remove.
#ifndef RAPIDEYE_CLASSIFIER_REMOVAL_H_
#define RAPIDEYE_CLASSIFIER_REMOVAL_H_

#include <string>
#include <vector>

#include "classifier/verdict.h"

namespace rapideye::classifier {

// Two findings allow removal at once: a bad chip with a fatal PCIe error or a
// kernel hardware error on that same chip, and a host whose network its own side
// and its peers' probes agree about. `removable` is what the rule found evidence
// for from outside the job's reach; `reason` why that is so, or, with nothing to remove, why there
// is none. Everything else is watched, and the reason says why.
Removal JudgeRemoval(const Verdict& verdict, std::vector<RemovalTarget> removable,
                     const std::string& reason);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_REMOVAL_H_

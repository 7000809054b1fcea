// NextSteps lists the next steps of an operator, by cause and detail. Pure.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_ACTIONS_H_
#define RAPIDEYE_CLASSIFIER_DECISION_ACTIONS_H_

#include <vector>

#include "classifier/findings/finding.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// One step or more, in the order to take them; none for NO_HANG.
std::vector<RecommendedAction> NextSteps(const Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_ACTIONS_H_

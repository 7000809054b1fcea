// Decide weighs the findings of all rules and makes the verdict.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_DECIDE_H_
#define RAPIDEYE_CLASSIFIER_DECISION_DECIDE_H_

#include "classifier/findings/finding.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// Drops findings that another finding explains (victims); the most certain of the
// rest is the cause, the others are alternatives. If none reaches kLeastConfidence,
// the cause is UNKNOWN and the verdict lists the missing evidence.
Verdict Decide(const Case& c, Findings findings);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_DECIDE_H_

// From findings to the verdict.
#ifndef RAPIDEYE_CLASSIFIER_DECIDE_H_
#define RAPIDEYE_CLASSIFIER_DECIDE_H_

#include "classifier/finding.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict.h"

namespace rapideye::classifier {

// Weighs the findings: those that another one explains are dropped as victims,
// the surest of the rest is the cause, the others are alternatives. Nothing sure
// enough: UNKNOWN, with what would have helped.
Verdict Decide(const Case& c, Findings findings);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECIDE_H_

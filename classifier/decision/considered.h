// NothingFound states why a cause that was asked for was not found.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_CONSIDERED_H_
#define RAPIDEYE_CLASSIFIER_DECISION_CONSIDERED_H_

#include <vector>

#include "classifier/findings/finding.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// Lists each cause that no rule found, in the order of Cause, with what speaks against it here.
// `found`: the causes for which some rule had a finding.
std::vector<Considered> NothingFound(const Case& c, const std::vector<Cause>& found);

// A finding that lost, with why.
Considered Lost(const Finding& finding, WhyNot why);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_CONSIDERED_H_

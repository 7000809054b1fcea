// WhatWasLacking lists missing evidence that would have made the verdict more certain.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_LACKING_H_
#define RAPIDEYE_CLASSIFIER_DECISION_LACKING_H_

#include <string>
#include <vector>

#include "classifier/findings/finding.h"

namespace rapideye::classifier {

// Sentences, the most helpful first; never empty.
std::vector<std::string> WhatWasLacking(const Case& c);

// WhatWasLacking, or where logs are the only evidence WhatLogsLack for a verdict without culprits.
std::vector<std::string> WhatToCollect(const Case& c);

// For a verdict from logs alone: logs that were not given, and evidence that agents would add.
std::vector<std::string> WhatLogsLack(const Case& c, const Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_LACKING_H_

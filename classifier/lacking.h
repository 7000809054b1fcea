// WhatWasLacking lists missing evidence that would have made the verdict more certain.
#ifndef RAPIDEYE_CLASSIFIER_LACKING_H_
#define RAPIDEYE_CLASSIFIER_LACKING_H_

#include <string>
#include <vector>

#include "classifier/finding.h"

namespace rapideye::classifier {

// Sentences, the most helpful first; never empty.
std::vector<std::string> WhatWasLacking(const Case& c);

// The same, or where logs are all there is WhatLogsLack of a verdict that names nothing.
std::vector<std::string> WhatToCollect(const Case& c);

// Where logs are all there is: logs that were not given, and what agents would have added.
std::vector<std::string> WhatLogsLack(const Case& c, const Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_LACKING_H_

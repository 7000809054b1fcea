// WhatWasLacking lists missing evidence that would have made the verdict more certain.
#ifndef RAPIDEYE_CLASSIFIER_LACKING_H_
#define RAPIDEYE_CLASSIFIER_LACKING_H_

#include <string>
#include <vector>

#include "classifier/finding.h"

namespace rapideye::classifier {

// Sentences, the most helpful first; never empty.
std::vector<std::string> WhatWasLacking(const Case& c);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_LACKING_H_

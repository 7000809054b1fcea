// Formats verdicts as text, for comparing them.
#ifndef RAPIDEYE_TESTS_PROPERTIES_VERDICT_TEXT_H_
#define RAPIDEYE_TESTS_PROPERTIES_VERDICT_TEXT_H_

#include <string>

#include "classifier/verdict/verdict.h"

namespace rapideye::properties {

std::string Name(const WorkerId& worker);  // "2/6"
// Cause, detail, culprits and removal, in one line.
std::string Summary(const Verdict& verdict);
// All there is.
std::string FullText(const Verdict& verdict);

}  // namespace rapideye::properties

#endif  // RAPIDEYE_TESTS_PROPERTIES_VERDICT_TEXT_H_

// HloText writes the HLO of a program as a compiler would dump it after all optimisations,
// SourceText as it would dump it before.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_HLO_TEXT_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_HLO_TEXT_H_

#include <string>

#include "tests/testbed/model/program.h"

namespace rapideye::testbed {

// One instruction per operation, in the short form in which XLA dumps. Two compilations
// differ in the names of their instructions, and in what their compute instructions say of
// the code that was made of them: the first of those is the first real difference.
std::string HloText(const Program& program);

// The same of all compilations, but for the size of the batch.
std::string SourceText(const Program& program);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_HLO_TEXT_H_

// For tests: reads the programs of tests/samples/hlo.
#ifndef RAPIDEYE_TESTS_SUPPORT_HLO_SAMPLES_H_
#define RAPIDEYE_TESTS_SUPPORT_HLO_SAMPLES_H_

#include <string>

namespace rapideye {

// A file of `folder`, decompressed if its name ends in .gz. Throws std::runtime_error.
std::string ReadHloSample(const std::string& folder, const std::string& name);

// Of the test's own data (RAPIDEYE_TEST_DATA).
std::string ReadHloSample(const std::string& name);

}  // namespace rapideye

#endif  // RAPIDEYE_TESTS_SUPPORT_HLO_SAMPLES_H_

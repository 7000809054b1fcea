// ReplaceProgram puts another program into a worker's steps, for several faults.
#ifndef RAPIDEYE_TESTS_TESTBED_FAULTS_REPLACE_PROGRAM_H_
#define RAPIDEYE_TESTS_TESTBED_FAULTS_REPLACE_PROGRAM_H_

#include "absl/strings/string_view.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {

// From the next dispatched step on, program `program=N` (default 0) of each
// step is what `make` returns for N. INVALID_ARGUMENT if there is no N-th.
absl::Status ReplaceProgram(const ControlLine& line, Worker& worker, absl::string_view fault,
                            ProgramPtr (*make)(const Worker& worker, int number));

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_FAULTS_REPLACE_PROGRAM_H_

// Injects faults that affect a chip at one operation of a program.
#ifndef RAPIDEYE_TESTS_TESTBED_FAULTS_PLACE_H_
#define RAPIDEYE_TESTS_TESTBED_FAULTS_PLACE_H_

#include <functional>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {

// Arguments of FaultAtPlace, for a fault's help.
#define RAPIDEYE_PLACE_ARGUMENTS "chip=C where=before|after [program=N] [compute=N]"

// The fault's effect on the core there; runs on the core's thread, which it may block.
using Misfortune = std::function<void(Core& core, const Launch& launch, int operation,
                                      const std::stop_token& stop)>;

// Lets `misfortune` befall the first TensorCore of the line's chip in the N-th
// compute operation before or after the program's last collective, whenever it
// comes there before it is healed; each time the fault is announced first. Sibling cores of the
// chip then wait for it, as everyone does. INVALID_ARGUMENT names a wrong argument.
absl::Status FaultAtPlace(const ControlLine& line, Worker& worker, absl::string_view fault,
                          Misfortune misfortune);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_FAULTS_PLACE_H_

// Script writes what the main thread of a training process does in a step.
#ifndef RAPIDEYE_TESTS_WORLD_SCRIPT_H_
#define RAPIDEYE_TESTS_WORLD_SCRIPT_H_

#include "tests/world/plan.h"

namespace rapideye::world {

struct HostState;

// Appends the next step to the host's script.
void WriteStep(const Plan& plan, int worker, HostState& host);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_SCRIPT_H_

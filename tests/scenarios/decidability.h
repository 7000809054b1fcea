// Decides whether the truth of a scenario follows from its capture: looked up in what the capture
// holds once all gaps have been torn into it.
#ifndef RAPIDEYE_TESTS_SCENARIOS_DECIDABILITY_H_
#define RAPIDEYE_TESTS_SCENARIOS_DECIDABILITY_H_

#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/plan.h"
#include "tests/scenarios/truth.h"

namespace rapideye::scenarios {

// The workers of all accepted answers.
std::vector<WorkerId> CulpritWorkers(const Truth& truth);

// Sets `truth.decidable`, and accepts `truth.otherwise` where a need is not met.
void Decide(const Plan& plan, const Capture& capture, Truth& truth);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_DECIDABILITY_H_

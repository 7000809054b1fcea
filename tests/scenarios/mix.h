// Defines the shares in which the kinds of scenario are drawn.
#ifndef RAPIDEYE_TESTS_SCENARIOS_MIX_H_
#define RAPIDEYE_TESTS_SCENARIOS_MIX_H_

#include <cstdint>
#include <vector>

#include "tests/scenarios/random.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::scenarios {

struct Share {
  Kind kind = Kind::kHealthy;
  double weight = 1;
};

// Every kind alike.
std::vector<Share> FlatMix();
// As large fleets report: chips about 40 %, network 18 %, input and queueing
// 18 %, lost hosts 8 %, divergence 10 %, the rest.
std::vector<Share> RealisticMix();

// Jobs that are well, all kinds alike: what must raise no alarm.
std::vector<Share> HealthyMix();

// Draws a kind, and whether the runtimes had aborted (a quarter of the hangs).
struct Draw {
  Kind kind = Kind::kHealthy;
  bool aborted = false;
};
Draw DrawFrom(const std::vector<Share>& mix, uint64_t seed);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_MIX_H_

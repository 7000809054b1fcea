// World makes one capture of one job from a kind of fault and a seed, with the truth about it.
#ifndef RAPIDEYE_TESTS_WORLD_WORLD_H_
#define RAPIDEYE_TESTS_WORLD_WORLD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/v1/evidence.h"
#include "tests/world/plan.h"

namespace rapideye::world {

struct World {
  Plan plan;
  Capture capture;
  double alarm = 0;          // when somebody began to look, virtual seconds
  double last_progress = 0;  // when a launch last completed before that
  std::optional<double> fault;
};

// The same arguments give the same world. `kind` is one of Kinds(); its slices have `times`
// as many hosts as otherwise, a power of two.
World MakeWorld(std::string_view kind, uint64_t seed, int noise, int times = 1);

// Describes for people, a line for each part, how the job works and what breaks.
std::string Describe(const Plan& plan);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_WORLD_H_

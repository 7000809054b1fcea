// Kinds of what can befall a job, each by its name.
#ifndef RAPIDEYE_TESTS_WORLD_KINDS_H_
#define RAPIDEYE_TESTS_WORLD_KINDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/world/draft.h"

namespace rapideye::world {

struct Kind {
  std::string name;
  JobNeeds needs;
  void (*befall)(Draft& draft);
};

std::vector<Kind> ChipKinds();
std::vector<Kind> ProcessKinds();
std::vector<Kind> NetworkKinds();
std::vector<Kind> HostKinds();
std::vector<Kind> ProgramKinds();
std::vector<Kind> SeveralKinds();
std::vector<Kind> HealthyKinds();

// All of them, in the order of the tables.
const std::vector<Kind>& Kinds();
// Requires a name of Kinds().
Plan MakePlan(std::string_view kind, uint64_t seed, int noise, int times = 1);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_KINDS_H_

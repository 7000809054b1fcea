// Seeds() counts the seeds of each kind that the tests of the world try.
#ifndef RAPIDEYE_TESTS_WORLD_SEEDS_H_
#define RAPIDEYE_TESTS_WORLD_SEEDS_H_

#include <cstdint>
#include <cstdlib>

namespace rapideye::world {

// Five, or what RAPIDEYE_WORLD_SEEDS states; --long states more.
inline uint64_t Seeds() {
  const char* seeds = std::getenv("RAPIDEYE_WORLD_SEEDS");
  return seeds == nullptr ? 5 : std::strtoull(seeds, nullptr, 10);
}

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_SEEDS_H_

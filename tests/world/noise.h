// Noise spoils evidence as the field does: snapshots, instructions, launch ids and whole
// runtimes are lost, ages are late, and stray lines and probes appear.
#ifndef RAPIDEYE_TESTS_WORLD_NOISE_H_
#define RAPIDEYE_TESTS_WORLD_NOISE_H_

#include "proto/v1/evidence.h"
#include "tests/world/random.h"

namespace rapideye::world {

// Levels: 0 nothing, 1 as in the field, 2 heavy.
void Spoil(int level, Random& random, Capture& capture);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_NOISE_H_

// NamePlaces gives the places of made-up programs the names that XLA gives to instructions of
// real ones: of a kind's names each as often as cores can stand at it in tests/samples/hlo.
#ifndef RAPIDEYE_TESTS_SCENARIOS_NAMES_H_
#define RAPIDEYE_TESTS_SCENARIOS_NAMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/program.h"

namespace rapideye::scenarios {

enum class Naming {
  kOpcodes,   // as if every instruction were called after its opcode
  kV5e,       // a transformer that the compiler partitions, on v5e
  kShardMap,  // collectives written by hand in a shard_map: after JAX's primitives
};

// One name of real programs, with '#' for its number.
struct RealName {
  std::string_view name;
  HloWaits waits = HloWaits::kUnspecified;  // by the text of its program
  int places = 0;                           // so many in the samples
};

// The names of one kind of operation, and the samples in which they were counted.
struct RealNames {
  std::vector<std::string_view> programs;
  std::vector<RealName> names;
};
// The instruction at which cores wait for their slice. Requires other names than kOpcodes.
const RealNames& RealCollectives(Naming naming);
const RealNames& RealComputes();
// Collectives and lookups that the SparseCores carry.
const RealNames& RealSparseWork();
const RealNames& RealInputs();
const RealNames& RealReceives();
const RealNames& RealSends();

// Whether dumps of the programs are at hand, so that what a core waits for is known as well.
enum class Texts { kNone, kAll };

// The same name of the same module becomes the same name, with the same `seed`.
void NamePlaces(Naming naming, Texts texts, uint64_t seed, std::vector<Program>& programs);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_NAMES_H_

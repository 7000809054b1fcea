#include "tests/testbed/model/launch_ids.h"

namespace rapideye::testbed {

int32_t LaunchIds::Start(uint64_t seed, const Fingerprint& program) {
  // FNV-1a over the seed's and the fingerprint's bytes.
  uint32_t hash = 2166136261u;
  for (int shift = 0; shift < 64; shift += 8) {
    hash = (hash ^ static_cast<uint8_t>(seed >> shift)) * 16777619u;
  }
  for (uint8_t byte : program) hash = (hash ^ byte) * 16777619u;
  return static_cast<int32_t>(hash);
}

int32_t LaunchIds::Next(const Fingerprint& program) {
  auto [entry, added] = next_.try_emplace(program, static_cast<uint32_t>(start_(seed_, program)));
  // Unsigned, so that the step from the largest id to the smallest is defined.
  return static_cast<int32_t>(entry->second++);
}

}  // namespace rapideye::testbed

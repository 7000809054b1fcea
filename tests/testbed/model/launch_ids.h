// LaunchIds counts launches: a signed 32-bit counter of its own for every program.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_LAUNCH_IDS_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_LAUNCH_IDS_H_

#include <cstdint>
#include <map>

#include "tests/testbed/model/program.h"

namespace rapideye::testbed {

// Hands out launch ids. Every worker of a job gives the same seed, so the n-th
// launch of a program has the same id everywhere, although the start is
// arbitrary and the counter wraps. Not synchronised.
class LaunchIds {
 public:
  // Where the counter of a program begins.
  using StartOf = int32_t (*)(uint64_t seed, const Fingerprint& program);
  static int32_t Start(uint64_t seed, const Fingerprint& program);

  explicit LaunchIds(uint64_t seed, StartOf start = Start) : seed_(seed), start_(start) {}

  int32_t Next(const Fingerprint& program);

 private:
  uint64_t seed_;
  StartOf start_;
  std::map<Fingerprint, uint32_t> next_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_LAUNCH_IDS_H_

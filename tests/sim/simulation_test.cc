#include "tests/sim/simulation.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_join.h"

namespace rapideye::sim {
namespace {

// tests/run.sh --full runs many more. A sanitizer makes each take ten times as long.
#ifdef RAPIDEYE_SANITIZED
constexpr uint64_t kSeeds = 100;
#else
constexpr uint64_t kSeeds = 300;
#endif

TEST(Simulation, HoldsForManySeeds) {
  int hangs = 0;
  int further_looks = 0;
  size_t wrong = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Options options = Draw(seed);
    const Outcome outcome = Simulate(options);
    EXPECT_TRUE(outcome.failures.empty())
        << Describe(options) << "\n  " << absl::StrJoin(outcome.failures, "\n  ")
        << "\nreplay: rapideye-sim --trace=1000 --seed=" << seed;
    hangs += outcome.hangs;
    further_looks += outcome.further_looks;
    wrong += outcome.wrong_verdicts.size();
  }
  EXPECT_LE(wrong, static_cast<size_t>(hangs) / 20);
  // About half of them hang: what never happens is not tested.
  EXPECT_GT(hangs, static_cast<int>(kSeeds) / 4);
  // Few verdicts say UNKNOWN, and only those are looked at again.
  for (uint64_t seed = kSeeds + 1; further_looks == 0 && seed <= 10 * kSeeds; ++seed) {
    further_looks += Simulate(Draw(seed)).further_looks;
  }
  EXPECT_GT(further_looks, 0);
}

// One agent of sixteen or more tells lies of all kinds: no machine but its own is removed, and
// no hang of the others is kept from anybody.
TEST(Simulation, OneLiarRemovesNobodyAndSilencesNobody) {
  int hangs = 0;
  for (uint64_t seed = 1; seed <= kSeeds / 2; ++seed) {
    const Options options = DrawWithLiar(seed);
    const Outcome outcome = Simulate(options);
    EXPECT_TRUE(outcome.failures.empty())
        << Describe(options) << "\n  " << absl::StrJoin(outcome.failures, "\n  ")
        << "\nreplay: rapideye-sim --trace=1000 --liar --seed=" << seed;
    hangs += outcome.hangs;
  }
  EXPECT_GT(hangs, static_cast<int>(kSeeds) / 8);
}

TEST(Simulation, TheSameSeedIsTheSameRun) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome first = Simulate(Draw(seed));
    // A trace that is kept changes nothing.
    const Outcome second = Simulate(Draw(seed), 100);
    EXPECT_EQ(first.hash, second.hash) << seed;
    EXPECT_EQ(first.lasted, second.lasted) << seed;
    EXPECT_FALSE(second.trace.empty());
    hashes.insert(first.hash);
  }
  EXPECT_EQ(hashes.size(), 10U);
}

}  // namespace
}  // namespace rapideye::sim

// Holds the verdicts on the world's jobs to the figures that they reach.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "classifier/classify.h"
#include "gtest/gtest.h"
#include "tests/world/kinds.h"
#include "tests/world/seeds.h"
#include "tests/world/table.h"
#include "tests/world/truth.h"
#include "tests/world/world.h"

namespace rapideye::world {
namespace {

// The verdicts reach these figures today on seeds that rules may be tuned by. The floors keep
// changes of rules from making verdicts worse; a change that makes them better raises the floors.
TEST(Verdict, IsNoWorseThanItWas) {
  struct Floor {
    int noise;
    int cause;
    int culprits;
    int wrong_accusations;
    int wrong_removals;
  };
  constexpr uint64_t kTuned = 8;
  for (const Floor& floor : {Floor{0, 578, 576, 4, 0}, Floor{2, 550, 544, 15, 0}}) {
    Figures figures;
    JudgeSeeds(0, kTuned, floor.noise, "", figures);
    const Count total = Total(figures, floor.noise);
    EXPECT_GE(total.cause, floor.cause) << Print(figures);
    EXPECT_GE(total.culprits, floor.culprits) << Print(figures);
    EXPECT_LE(total.wrong_accusations, floor.wrong_accusations) << Print(figures);
    EXPECT_LE(total.wrong_removals, floor.wrong_removals) << Print(figures);
  }
}

// The step learnt in health is to help: without it a wrong verdict should not become right. In
// at most kMost cases a verdict still does.
TEST(Verdict, IsHardlyEverWrongForWhatWasLearnt) {
  constexpr uint64_t kTuned = 4;
  constexpr int kMost = 2;
  std::vector<std::string> mended;
  for (const Kind& kind : Kinds()) {
    for (uint64_t seed = 0; seed < kTuned; ++seed) {
      const World world = MakeWorld(kind.name, seed, 0);
      const auto right = [&world](const Capture& capture) {
        const Judgement judgement = world::Judge(world.plan.truth, Classify(capture));
        return judgement.cause && judgement.culprits;
      };
      Capture without = world.capture;
      without.header.cohorts.clear();
      if (!right(world.capture) && right(without)) mended.push_back(Describe(world.plan));
    }
  }
  EXPECT_LE(mended.size(), kMost) << absl::StrJoin(mended, "\n");
}

TEST(Verdict, HealthyJobsRaiseNoAlarm) {
  Figures figures;
  for (const Kind& kind : HealthyKinds()) {
    JudgeKind(kind, 0, 4 * Seeds(), 0, figures);
  }
  const Count total = Total(figures, 0);
  EXPECT_EQ(total.cause, total.n) << Print(figures);
}

}  // namespace
}  // namespace rapideye::world

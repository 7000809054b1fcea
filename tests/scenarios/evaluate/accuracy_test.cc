// The accuracy that is published, on a part of the corpus small enough for every
// build. The floors lie below what is measured by about as much as a thousand
// scenarios scatter.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <vector>

#include "classifier/classify.h"
#include "tests/scenarios/evaluate/report.h"
#include "tests/scenarios/mix.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::scenarios {
namespace {

constexpr int kScenarios = 1000;
constexpr uint64_t kMixSeed = 2'000'000;
constexpr uint64_t kHealthySeed = 3'000'000;

void Judge(const Draw& draw, uint64_t seed, Report& report) {
  const Scenario scenario = Generate(draw.kind, seed, {.noise = Noisy(), .aborted = draw.aborted});
  const Verdict verdict = Classify(scenario.capture);
  report.Add(scenario, verdict, GradeVerdict(scenario.truth, verdict));
}

double Part(int part, const Report& report) {
  return static_cast<double>(part) / report.total().scenarios;
}

TEST(Accuracy, OfTheFlatMixWithNoise) {
  const std::vector<Share> mix = FlatMix();
  Report report;
  for (uint64_t seed = kMixSeed; seed < kMixSeed + kScenarios; ++seed) {
    Judge(DrawFrom(mix, seed), seed, report);
  }
  ASSERT_EQ(report.total().scenarios, kScenarios);
  EXPECT_GE(Part(report.total().cause, report), 0.985);
  EXPECT_GE(Part(report.total().culprits, report), 0.98);
  EXPECT_GE(Part(report.total().detail, report), 0.97);
  EXPECT_EQ(report.total().wrong_removals, 0);
  EXPECT_EQ(report.false_alarms(), 0);
  EXPECT_LE(report.CalibrationError(), 0.04);
  if (HasFailure()) std::cout << report.Render();
}

TEST(Accuracy, JobsThatAreWellRaiseNoAlarm) {
  std::vector<Kind> well;
  for (const Kind kind : AllKinds()) {
    if (IsHealthyKind(kind)) well.push_back(kind);
  }
  ASSERT_FALSE(well.empty());
  Report report;
  for (uint64_t i = 0; i < kScenarios; ++i) {
    Judge({.kind = well[i % well.size()], .aborted = false}, kHealthySeed + i, report);
  }
  ASSERT_EQ(report.total().scenarios, kScenarios);
  EXPECT_EQ(report.false_alarms(), 0);
  EXPECT_EQ(report.total().wrong_removals, 0);
  if (HasFailure()) std::cout << report.Render();
}

}  // namespace
}  // namespace rapideye::scenarios

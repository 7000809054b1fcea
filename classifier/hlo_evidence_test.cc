#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kOther[] = "ee77";

// One worker runs another compilation of the step.
Scenario Mismatch() {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_step", kOther);
  return s;
}

HloComparison Compared(HloOutcome outcome) {
  HloComparison comparison;
  comparison.outcome = outcome;
  comparison.sides.resize(2);
  comparison.sides[0].worker = {0, 2};
  comparison.sides[0].fingerprint = kOther;
  comparison.sides[1].worker = {0, 0};
  comparison.sides[1].fingerprint = "aa01";
  return comparison;
}

TEST(HloEvidence, AVerdictOnDivergedProgramsNamesBothSides) {
  const Verdict verdict = Classify(Mismatch().capture);
  EXPECT_EQ(verdict.cause, Cause::kFingerprintMismatch);
  ASSERT_THAT(verdict.sides, SizeIs(2));
  EXPECT_EQ(verdict.sides[0].module, "jit_step");
  EXPECT_EQ(verdict.sides[0].fingerprint, kOther);
  EXPECT_THAT(verdict.sides[0].workers, ElementsAre(WorkerId{0, 2}));
  EXPECT_EQ(verdict.sides[1].module, "jit_step");
  EXPECT_THAT(verdict.sides[1].workers,
              ElementsAre(WorkerId{0, 0}, WorkerId{0, 1}, WorkerId{0, 3}));

  EXPECT_THAT(Classify(Scenario().capture).sides, SizeIs(0));
}

TEST(HloEvidence, TheFirstDifferenceIsToldAndChangesNoVerdict) {
  Scenario s = Mismatch();
  const Verdict before = Classify(s.capture);
  HloComparison comparison = Compared(HloOutcome::kDifferent);
  comparison.position = 12;
  for (HloSide& side : comparison.sides) side.computation = "main.55_spmd";
  comparison.sides[0].instruction = "copy.9 = f32[8] copy(fusion.3)";
  comparison.sides[1].instruction = "negate.9 = f32[8] negate(fusion.3)";
  s.capture.header.hlo_comparison = comparison;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), Summary(before));
  EXPECT_EQ(verdict.confidence, before.confidence);
  ASSERT_THAT(verdict.evidence, SizeIs(before.evidence.size() + 1));
  EXPECT_EQ(verdict.evidence[0].strength, Strength::kDirect);
  EXPECT_THAT(verdict.evidence[0].statement,
              HasSubstr("first differs at instruction 12 of main.55_spmd: slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("copy.9 = f32[8] copy(fusion.3)"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("negate.9 = f32[8] negate(fusion.3)"));
  EXPECT_THAT(verdict.evidence[0].workers, ElementsAre(WorkerId{0, 0}, WorkerId{0, 2}));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("where they first differ"));
}

TEST(HloEvidence, WhatIsMissingIsSaid) {
  Scenario s = Mismatch();
  s.capture.header.hlo_comparison = Compared(HloOutcome::kNotComparable);
  s.capture.header.hlo_comparison->sides[1].problem = "no --hlo-dump-dir is set";
  const Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence.back().statement, HasSubstr("no --hlo-dump-dir is set"));
  EXPECT_THAT(verdict.actions.back().description, HasSubstr("--xla_dump_to"));
}

TEST(HloEvidence, ADumpThatMayBeAnothersIsSaidToBe) {
  Scenario s = Mismatch();
  s.capture.header.hlo_comparison = Compared(HloOutcome::kEqual);
  EXPECT_THAT(Classify(s.capture).evidence.back().statement, Not(HasSubstr("written last")));
  s.capture.header.hlo_comparison->sides[0].match = HloMatch::kLatestDump;
  const Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence.back().statement, HasSubstr("written last"));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("compiler flags"));
}

TEST(HloEvidence, AnotherCauseTakesNoNotice) {
  Scenario s({.slices = 1});
  s.Put(s.Tensor(0, 2, 1), 0, kStep, kCompute);
  const Verdict before = Classify(s.capture);
  ASSERT_EQ(before.cause, Cause::kBadTpuChip);
  s.capture.header.hlo_comparison = Compared(HloOutcome::kEqual);
  EXPECT_THAT(Classify(s.capture).evidence, SizeIs(before.evidence.size()));
}

}  // namespace
}  // namespace rapideye::classifier::testing

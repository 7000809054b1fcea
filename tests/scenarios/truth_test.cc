#include "tests/scenarios/truth.h"

#include <gtest/gtest.h>

namespace rapideye::scenarios {
namespace {

Culprit Said(WorkerId worker, std::optional<int32_t> chip = std::nullopt) {
  Culprit culprit;
  culprit.worker = worker;
  culprit.chip = chip;
  return culprit;
}

Truth BadChip() {
  Truth truth;
  truth.accepted = {{.cause = Cause::kBadTpuChip,
                     .details = {Detail::kTensorCore},
                     .culprits = {{.worker = {0, 1}, .chip = 2}}}};
  truth.removal = false;
  return truth;
}

Verdict RightVerdict() {
  Verdict verdict;
  verdict.cause = Cause::kBadTpuChip;
  verdict.detail = Detail::kTensorCore;
  verdict.culprits = {Said({0, 1}, 2)};
  return verdict;
}

TEST(Grade, TakesTheTruth) {
  const Grade grade = GradeVerdict(BadChip(), RightVerdict());
  EXPECT_TRUE(grade.cause);
  EXPECT_TRUE(grade.detail);
  EXPECT_TRUE(grade.culprits);
  EXPECT_EQ(grade.reason, "");
}

TEST(Grade, WantsTheChip) {
  Verdict verdict = RightVerdict();
  verdict.culprits = {Said({0, 1}, 3)};
  const Grade grade = GradeVerdict(BadChip(), verdict);
  EXPECT_TRUE(grade.cause);
  EXPECT_FALSE(grade.culprits);
  EXPECT_NE(grade.reason, "");
}

TEST(Grade, WantsNobodyBesidesTheCulprits) {
  Verdict verdict = RightVerdict();
  verdict.culprits.push_back(Said({1, 1}, 2));
  EXPECT_FALSE(GradeVerdict(BadChip(), verdict).culprits);
}

TEST(Grade, AmongIsSatisfiedByOneButNotByNone) {
  Truth truth = BadChip();
  truth.accepted[0].culprits.push_back({.worker = {0, 2}});
  truth.accepted[0].among = true;
  EXPECT_TRUE(GradeVerdict(truth, RightVerdict()).culprits);
  Verdict nobody = RightVerdict();
  nobody.culprits.clear();
  EXPECT_FALSE(GradeVerdict(truth, nobody).culprits);
}

TEST(Grade, UnknownIsRightOnlyWhereTheEvidenceDoesNotDecide) {
  Verdict unknown;
  Truth truth = BadChip();
  EXPECT_FALSE(GradeVerdict(truth, unknown).cause);
  truth.decidable = false;
  EXPECT_TRUE(GradeVerdict(truth, unknown).cause);
}

TEST(Grade, RemovalOfAnybodyElseIsWrongEvenWhereOneIsAllowed) {
  Truth truth = BadChip();
  Verdict verdict = RightVerdict();
  verdict.removal.eligible = true;
  EXPECT_TRUE(GradeVerdict(truth, verdict).wrong_removal);
  truth.removal = true;
  EXPECT_FALSE(GradeVerdict(truth, verdict).wrong_removal);
  verdict.culprits = {Said({1, 1})};
  EXPECT_TRUE(GradeVerdict(truth, verdict).wrong_removal);
}

TEST(Grade, AnyAlarmForAJobThatIsWellIsFalse) {
  Truth truth;
  truth.accepted = {{.cause = Cause::kNoHang}};
  EXPECT_TRUE(GradeVerdict(truth, RightVerdict()).false_alarm);
  Verdict none;
  none.cause = Cause::kNoHang;
  EXPECT_FALSE(GradeVerdict(truth, none).false_alarm);
}

}  // namespace
}  // namespace rapideye::scenarios

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

TEST(DifferentModule, OneHostRunsWhatNobodyElseHas) {
  Scenario s;
  s.RunOther(0, 2, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
}

TEST(DifferentModule, WithoutCohortsAsWell) {
  Scenario s({.slices = 1});
  s.ForgetCohorts();
  s.RunOther(0, 2, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
}

TEST(DifferentModule, OneOfEachSideIfTheyAreEqual) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_eval", "cc03");
  s.RunOther(0, 3, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0 0.2");
}

TEST(DifferentModule, TheSmallerSideThoughItRunsTheUsualProgram) {
  Scenario s({.slices = 1});
  for (int task : {0, 1, 3}) s.RunOther(0, task, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
}

// Three groups are two findings against the largest one: what both hold is told once, and the
// texts of the smallest group and of the largest are compared first.
TEST(DifferentModule, OfThreeGroupsTheSmallestComesFirst) {
  Scenario s({.slices = 1, .tasks = 8});
  for (int task : {5, 6}) s.RunOther(0, task, "jit_step", "dd04");
  s.RunOther(0, 7, "jit_step", "cc03");
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.5 0.6 0.7");
  const Verdict verdict = Classify(s.capture);
  ASSERT_EQ(verdict.sides.size(), 3U);
  EXPECT_EQ(verdict.sides[0].fingerprint, "cc03");
  EXPECT_EQ(verdict.sides[1].workers.size(), 5U);
  EXPECT_EQ(verdict.sides[2].fingerprint, "dd04");
  std::vector<std::string> told;
  for (const EvidenceItem& item : verdict.evidence) told.push_back(item.statement);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(std::adjacent_find(told.begin(), told.end()), told.end());
}

TEST(DifferentModule, OfGroupsAlikeThatWhichTheStepHeldInHealthIsNotNamed) {
  Scenario s({.slices = 1});
  for (int task : {0, 1}) s.RunOther(0, task, "jit_step", "cc03");
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.0 0.1");
}

// Stages of a pipeline, which no cohorts tell apart, have programs of one name.
TEST(DifferentModule, AWorkerIsComparedWithItsOwnStage) {
  Scenario s({.slices = 3});
  s.ForgetCohorts();
  for (int task = 0; task < 4; ++task) {
    s.RunOther(1, task, "jit_loss", "dd04");
    s.RunOther(2, task, "jit_other", "ee05");
  }
  s.RunOther(0, 3, "jit_loss", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.3");
}

TEST(DifferentModule, OfThreeGroupsAlikeOneOfEachIsNamedOnce) {
  Scenario s({.slices = 1, .tasks = 6});
  s.capture.header.cohorts[0].sequence.clear();
  for (int task : {2, 3}) s.RunOther(0, task, "jit_step", "dd04");
  for (int task : {4, 5}) s.RunOther(0, task, "jit_step", "cc03");
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.0 0.2 0.4");
}

TEST(DifferentModule, AtMostTenAreNamed) {
  Scenario s({.slices = 1, .tasks = 40});
  for (int task = 0; task < 15; ++task) s.RunOther(0, task, "jit_eval", "cc03");
  EXPECT_EQ(Classify(s.capture).culprits.size(), 10U);
}

TEST(DifferentModule, StagesOfAPipelineMayRunDifferentModules) {
  Scenario s;
  Cohort& first = s.capture.header.cohorts[0];
  Cohort second = first;
  std::erase_if(first.workers, [](WorkerId id) { return id.slice != 0; });
  std::erase_if(second.workers, [](WorkerId id) { return id.slice != 1; });
  second.name = "stage 1";
  second.sequence = {{"jit_stage1", "dd04", 3}};
  s.capture.header.cohorts.push_back(second);
  for (int task = 0; task < 4; ++task) {
    s.RunOther(1, task, "jit_stage1", "dd04");
    for (int chip = 0; chip < 4; ++chip) s.Tensor(1, task, chip).sequencers[0].hlo = "recv-done.1";
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // The rule for chips finds a fault inside one stage.
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(DifferentModule, AWholeSliceInWhatIsNoPartOfTheStep) {
  Scenario s({.slices = 3});
  for (int task = 0; task < 4; ++task) s.RunOther(2, task, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 2.0 2.1 2.2 2.3");
}

TEST(DifferentModule, AWholeSliceInAProgramOfAnUnknownStepIsNone) {
  Scenario s({.slices = 3});
  s.ForgetCohorts();
  for (int task = 0; task < 4; ++task) s.RunOther(2, task, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// All other cores have gone on to the evaluation; one core has not finished training.
TEST(DifferentModule, ABadChipAtTheEndOfAPhaseIsABadChip) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.RunOther(worker.id.slice, worker.id.task, "jit_eval", "cc03");
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  // The verdict is the same where no order was learnt.
  s.ForgetCohorts();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(DifferentModule, AJobThatAsAWholeWentOnToAnotherPhaseHasNotDiverged) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.RunOther(worker.id.slice, worker.id.task, "jit_eval", "cc03");
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(DifferentModule, ASingleOddCoreOnAHostIsALaggard) {
  Scenario s({.slices = 1});
  Snapshot& snapshot = s.At(0, 2);
  snapshot.programs.push_back({"jit_eval", "cc03"});
  s.Put(s.Tensor(0, 2, 1), 2, 5, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.2.1");
}

TEST(LaunchOrder, AQueueThatRunsAgainstTheOrder) {
  Scenario s({.slices = 1});
  s.PutHost(0, 2, 1, kApply, kCollectiveOfApply);
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 2, chip).queued = {{0, kStep, {}}};
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
}

TEST(LaunchOrder, OfQueuesAloneWithoutASequence) {
  Scenario s({.slices = 1, .tasks = 8});
  s.ForgetCohorts();
  s.PutHost(0, 2, 1, kApply, kCollectiveOfApply);
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 2, chip).queued = {{0, kStep, {}}};
  for (int chip = 0; chip < 4; ++chip) {
    s.Tensor(0, 0, chip).queued.push_back({0, kStep + 1, {}});
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
}

TEST(LaunchOrder, TheAssertionOfTheLaunchGroup) {
  Scenario s({.slices = 1});
  s.Log(0, 1, LogKind::kLaunchGroupMismatch,
        "scheckne: An unexpected leader shows up in the launch group with a different launch id "
        "than the current group leader.",
        kStillMs);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.1");
}

// The same two launches in opposite order prove it by themselves, without any order learnt.
TEST(LaunchOrder, TwoQueuesThatContradictEachOther) {
  Scenario s({.slices = 1});
  s.ForgetCohorts();
  const auto swap = [&](int task) {
    s.PutHost(0, task, 1, kApply, kCollectiveOfApply);
    for (int chip = 0; chip < 4; ++chip) {
      s.Tensor(0, task, chip).queued = {{0, kStep, std::nullopt}};
    }
  };
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) {
      s.Tensor(0, task, chip).queued = {{1, kApply, std::nullopt}};
    }
  }
  swap(2);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
  // Without a majority both are named.
  swap(3);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.0 0.1 0.2 0.3");
  // The launches of the step before show which order is the usual one.
  for (int chip = 0; chip < 4; ++chip) {
    Transition step;
    step.age_ms = 90'000;
    step.program = 0;
    step.launch_id = kStep - 1;
    Transition apply = step;
    apply.age_ms = 80'000;
    apply.program = 1;
    apply.launch_id = kApply - 1;
    s.Tensor(0, 3, chip).transitions = {step, apply};
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2 0.3");
}

}  // namespace
}  // namespace rapideye::classifier::testing

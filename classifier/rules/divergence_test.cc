#include <gtest/gtest.h>

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
  // A fault in one stage is found there.
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

// Everybody has gone on to evaluate, one core has not finished training.
TEST(DifferentModule, ABadChipAtTheEndOfAPhaseIsABadChip) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.RunOther(worker.id.slice, worker.id.task, "jit_eval", "cc03");
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  // And so it is for who has not learnt the order.
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

TEST(Fingerprint, TheSameModuleCompiledDifferently) {
  Scenario s;
  s.RunOther(0, 2, "jit_step", "ee05");
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.2");
}

TEST(Fingerprint, BeforeALaunchThatBothSidesShare) {
  Scenario s;
  s.ForgetCohorts();
  s.ForgetHlo();
  for (int task : {1, 2}) {
    s.RunOther(0, task, "jit_step", "ee05");
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).queued = {{1, kApply, {}}};
  }
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.1 0.2");
}

TEST(Fingerprint, WithoutNamesTheInstructionsTell) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_step", "ee05");
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 2, chip).sequencers[0].hlo = "all-reduce.3";
  s.ForgetModules();
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.2");
}

TEST(Fingerprint, WithoutNamesOtherInstructionsAreAnotherModule) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_eval", "ee05");
  const double named = Classify(s.capture).confidence;
  s.ForgetModules();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  EXPECT_LT(Classify(s.capture).confidence, named);
}

}  // namespace
}  // namespace rapideye::classifier::testing

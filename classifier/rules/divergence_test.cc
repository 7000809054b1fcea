#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
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
// texts that are compared are those of the smallest group and of the largest.
TEST(DifferentModule, OfThreeGroupsTheSmallestComesFirst) {
  Scenario s({.slices = 1, .tasks = 8});
  for (int task : {5, 6}) s.RunOther(0, task, "jit_step", "dd04");
  s.RunOther(0, 7, "jit_step", "cc03");
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.5 0.6 0.7");
  const Verdict verdict = Classify(s.capture);
  ASSERT_EQ(verdict.sides.size(), 2U);
  EXPECT_EQ(verdict.sides[0].fingerprint, "cc03");
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

// Groups of a mesh go on by themselves, so that cores of one program stand at several places.
TEST(Fingerprint, TwoProgramsOfAModuleInLaunchesOfOneIdAreOneLaunch) {
  for (const int32_t launch : {kStep, kStep + 1}) {
    Scenario s({.slices = 1, .tasks = 2});
    s.ForgetCohorts();
    s.RunOther(0, 1, "jit_step", "ee05");
    for (int task : {0, 1}) {
      for (int chip : {2, 3}) s.Put(s.Tensor(0, task, chip), 0, kStep, kCollectiveOfApply);
    }
    for (int chip = 0; chip < 4; ++chip) {
      Core& core = s.Tensor(0, 1, chip);
      core.program = static_cast<int32_t>(s.At(0, 1).programs.size()) - 1;
      core.launch_id = launch;
      core.queued = {{*core.program, launch + 1, {}}};
    }
    if (launch == kStep) {
      EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 0.0 0.1");
    } else {
      EXPECT_NE(Classify(s.capture).cause, Cause::kFingerprintMismatch);
    }
  }
}

// Slices of one host each; nothing says that they are no stages but that two of them agree.
TEST(Fingerprint, OneSliceOfThreeThatWasCompiledOtherwise) {
  for (const bool stages : {false, true}) {
    Scenario s({.slices = 3, .tasks = 1});
    s.ForgetCohorts();
    for (const int slice : {0, 1, 2}) {
      s.PutHost(slice, 0, 0, kStep, kTransfer);
      if (slice != 2 && !(stages && slice == 1)) continue;
      s.At(slice, 0).programs[0].fingerprint = slice == 2 ? "ee05" : "ee06";
    }
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(verdict.cause == Cause::kFingerprintMismatch, !stages) << Summary(verdict);
  }
}

TEST(Fingerprint, WithoutNamesLaunchesOfOneIdTell) {
  Scenario s;
  s.RunOther(1, 2, "jit_step", "ee05");
  for (int chip = 0; chip < 4; ++chip) {
    Core& core = s.Tensor(1, 2, chip);
    core.launch_id = kStep;
    core.sequencers[0].hlo = std::nullopt;
  }
  s.ForgetModules();
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 1.2");
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
  const double named = Classify(s.capture).confidence.value_or(0);
  s.ForgetModules();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  EXPECT_LT(Classify(s.capture).confidence, named);
}

// A job on other devices, or a job whose runtimes do not answer: every host waits for its
// device, and has dumped the programs that it has compiled.
class FingerprintsOfDumps : public ::testing::Test {
 protected:
  explicit FingerprintsOfDumps(int tasks = 4) : s_({.slices = 1, .tasks = tasks}) {
    s_.ForgetCohorts();
    s_.capture.header.trigger = "no-progress";
    for (int task = 0; task < tasks; ++task) {
      s_.At(0, task).cores.clear();
      s_.At(0, task).stacks = {
          {"MainThread", {"_value (jax/_src/array.py:640)", "train (train.py:31)"}}};
      Compiled(task, {{"jit_step", "aa01"}, {"jit_eval", "ee01"}});
    }
  }

  void Compiled(int task, const std::vector<std::pair<std::string, std::string>>& programs) {
    s_.At(0, task).programs.clear();
    for (const auto& [module, fingerprint] : programs) {
      s_.At(0, task).programs.push_back({module, fingerprint});
    }
  }

  Scenario s_;
};

class FingerprintsOfTwo : public FingerprintsOfDumps {
 protected:
  FingerprintsOfTwo() : FingerprintsOfDumps(2) {}
};

TEST_F(FingerprintsOfDumps, OneDiffers) {
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Compiled(2, {{"jit_step", "bb02"}, {"jit_eval", "ee01"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.2");
  const Verdict verdict = Classify(s_.capture);
  EXPECT_LT(verdict.confidence, 0.9);  // a runtime's fingerprints would be surer
  ASSERT_EQ(verdict.sides.size(), 2U);
  EXPECT_EQ(verdict.sides[0].fingerprint, "bb02");
  EXPECT_EQ(verdict.sides[0].workers, (std::vector<WorkerId>{{0, 2}}));
  EXPECT_EQ(verdict.sides[1].fingerprint, "aa01");
  EXPECT_EQ(verdict.sides[1].workers.size(), 3U);
}

TEST_F(FingerprintsOfDumps, SeveralModulesOfOneWorkerAreOneCulprit) {
  Compiled(2, {{"jit_step", "bb02"}, {"jit_eval", "ee02"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.2");
  EXPECT_EQ(Classify(s_.capture).culprits.size(), 1U);
}

TEST_F(FingerprintsOfTwo, BothAreNamed) {
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Compiled(1, {{"jit_step", "bb02"}, {"jit_eval", "ee01"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.0 0.1");
}

TEST_F(FingerprintsOfDumps, OfTwoHalvesOneEach) {
  for (int task : {1, 2}) Compiled(task, {{"jit_step", "bb02"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.0 0.1");
}

// Stages of a pipeline with equal module names, or a host with addresses in its programs.
TEST_F(FingerprintsOfDumps, WithoutAMajorityNobody) {
  Compiled(1, {{"jit_step", "bb02"}});
  Compiled(2, {{"jit_step", "cc03"}});
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Compiled(3, {{"jit_step", "dd04"}});
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(FingerprintsOfDumps, WhatOneAloneHasCompiledIsNoMismatch) {
  Compiled(0, {{"jit_step", "aa01"}, {"jit_eval", "ee01"}, {"jit_log", "dd01"}});
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

// The last batch is smaller, and one host is there already, or has the program from a cache.
TEST_F(FingerprintsOfDumps, AnotherCompilationOfItIsNoMismatch) {
  Compiled(0, {{"jit_step", "aa01"}, {"jit_step", "aa02"}});
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  const Verdict unsure = Classify(s_.capture);
  ASSERT_EQ(unsure.alternatives.size(), 1U);
  EXPECT_EQ(unsure.alternatives[0].cause, Cause::kFingerprintMismatch);
  EXPECT_EQ(unsure.alternatives[0].culprits[0].worker, (WorkerId{0, 0}));
  for (int task : {1, 2}) Compiled(task, {{"jit_step", "aa01"}, {"jit_step", "aa02"}});
  Compiled(3, {{"jit_step", "aa02"}});
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  // As many compilations, but not the same.
  Compiled(3, {{"jit_step", "aa01"}, {"jit_step", "aa03"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.3");
  const Verdict verdict = Classify(s_.capture);
  EXPECT_EQ(verdict.sides[0].fingerprint, "aa03");
  EXPECT_EQ(verdict.sides[1].fingerprint, "aa02");
}

// A program with another constant trains on: dumps accuse nobody unless the job stands.
TEST_F(FingerprintsOfDumps, OnlyOfAJobThatStands) {
  Compiled(2, {{"jit_step", "bb02"}});
  for (const char* trigger : {"operator", "hang-line"}) {
    s_.capture.header.trigger = trigger;
    EXPECT_NE(Diagnose(s_), "FINGERPRINT_MISMATCH 0.2") << trigger;
  }
}

TEST_F(FingerprintsOfDumps, WhoDoesSomethingElseComesFirst) {
  Compiled(2, {{"jit_step", "bb02"}});
  s_.At(0, 1).stacks[0].frames[0] = "read_shard (train.py:88)";
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  const Verdict verdict = Classify(s_.capture);
  ASSERT_FALSE(verdict.alternatives.empty());
  EXPECT_EQ(verdict.alternatives[0].cause, Cause::kFingerprintMismatch);
}

// Sizes that do not agree prove that programs differ; dumps show which worker is odd.
TEST_F(FingerprintsOfDumps, TellWhoseCollectiveDoesNotFit) {
  s_.capture.header.trigger = "hang-line";
  s_.Log(0, 1, LogKind::kCollectiveMismatch,
         "gloo::EnforceNotMet: Is there a distributed collective mismatch in your code?", 900);
  EXPECT_EQ(Diagnose(s_), "DIFFERENT_MODULE");
  Compiled(2, {{"jit_step", "bb02"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.2");
  // Other shapes are compiled from some step on.
  Compiled(2, {{"jit_step", "aa01"}, {"jit_step", "bb02"}});
  EXPECT_EQ(Diagnose(s_), "FINGERPRINT_MISMATCH 0.2");
  EXPECT_EQ(Classify(s_.capture).sides[0].fingerprint, "bb02");
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

TEST_F(FingerprintsOfDumps, AreNotAskedWhereACoreIsKnown) {
  Scenario with_cores({.slices = 1});
  with_cores.capture.header.trigger = "no-progress";
  with_cores.At(0, 2).programs.push_back({"jit_step", "bb02"});
  EXPECT_EQ(Diagnose(with_cores), "UNKNOWN");
}

// The host that has left jit_apply out is in the next step, at a collective of its own.
TEST(DifferentModule, OneHostThatLeftALaunchOutIsNamed) {
  Scenario s({.slices = 1});
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  for (int task : {0, 1, 3}) {
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).queued.clear();
  }
  s.PutHost(0, 2, 0, kStep + 1, kCollective);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
}

// Polls saw the host in the launch in which its mates stand, and then in one that is not of the
// step.
TEST(DifferentModule, WhoHasPassedTheCollectiveOfItsMatesIsNamedThoughMostHavePassedIt) {
  Scenario s({.slices = 3});
  s.PutSlice(1, 0, kStep, kCollective);
  for (int slice : {0, 2}) {
    for (int task = 0; task < 4; ++task) {
      s.RunOther(slice, task, "jit_save", "cc03");
      for (int chip = 0; chip < 4; ++chip) {
        Core& core = s.Tensor(slice, task, chip);
        core.queued.clear();
        core.sequencers.front().pc = 0;
        core.sequencers.front().hlo.reset();
      }
    }
  }
  s.RunOther(1, 3, "jit_save", "cc03");
  for (int chip = 0; chip < 4; ++chip) {
    Transition& seen = s.Tensor(1, 3, chip).transitions.emplace_back();
    seen.age_ms = 80'000;
    seen.program = 0;
    seen.launch_id = kStep;
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Its mates will come to the launch that it is in, and wait for it in an earlier one.
TEST(DifferentModule, WhoIsAheadOfItsMatesIsNamedThoughHalfTheJobQueuesItsProgram) {
  Scenario s;
  s.PutSlice(0, 0, kStep, kTransfer);
  s.PutSlice(1, 1, kApply, kCollectiveOfApply);
  s.RunOther(1, 3, "jit_eval", "cc03");
  for (int task = 0; task < 3; ++task) {
    s.At(1, task).programs.push_back({"jit_eval", "cc03"});
    for (int chip = 0; chip < 4; ++chip) s.Tensor(1, task, chip).queued = {{2, 5, std::nullopt}};
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Another host was in the collective of the one and then in the launch of the other.
TEST(DifferentModule, TheOrderInWhichOthersWereGivenTwoLaunchesTellsWhoIsAhead) {
  Scenario s({.slices = 2, .tasks = 2});
  s.PutSlice(0, 0, kStep, kCollective);
  s.RunOther(0, 0, "jit_save", "cc03");
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 0, chip).launch_id = 7;
  for (int task = 0; task < 2; ++task) {
    s.MakeIdle(1, task);
    const auto save = static_cast<int32_t>(s.At(1, task).programs.size());
    s.At(1, task).programs.push_back({"jit_save", "cc03"});
    for (int chip = 0; chip < 4; ++chip) {
      Core& core = s.Tensor(1, task, chip);
      core.program = save;
      core.launch_id = 7;
      Transition step;
      step.age_ms = 80'000;
      step.program = 0;
      step.launch_id = kStep;
      Transition then = step;
      then.age_ms = 70'000;
      then.program = save;
      then.launch_id = 7;
      core.transitions = {step, then};
    }
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0");
}

// The step ends before the save, which the other slices have reached; nobody was seen in both.
TEST(DifferentModule, WhoIsInASaveThatOtherSlicesHaveReachedIsAheadOfMatesInTheStep) {
  Scenario s({.slices = 3});
  s.ForgetHlo();
  const auto save = [&s](int slice, int task) {
    s.RunOther(slice, task, "jit_save", "cc03");
    for (int chip = 0; chip < 4; ++chip) s.Tensor(slice, task, chip).launch_id = 7;
  };
  for (int slice : {0, 2}) {
    for (int task = 0; task < 4; ++task) save(slice, task);
  }
  save(1, 3);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Both wait for another slice, and each is given its own compilation of the step for ever.
TEST(DifferentModule, TwoCompilationsThatAreBothQueuedAgainNeedNoPlace) {
  Scenario s;
  for (int slice : {0, 1}) {
    s.PutSlice(slice, 0, kStep, kCollective);
    s.PutHost(slice, 3, 0, kStep, kTransfer);
    for (int task = 0; task < 4; ++task) {
      for (int chip = 0; chip < 4; ++chip) {
        s.Tensor(slice, task, chip).queued = {{0, kStep + 1, std::nullopt}};
      }
    }
  }
  s.RunOther(1, 3, "jit_step", "cc03");
  for (int chip = 0; chip < 4; ++chip) {
    Core& core = s.Tensor(1, 3, chip);
    core.launch_id = 900;
    core.queued = {{*core.program, 901, std::nullopt}};
    core.sequencers.front().hlo = kTransfer.hlo;
  }
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 1.3");
}

// The last hosts of all slices evaluate, and wait for that chip; the others have passed them.
TEST(DifferentModule, AChipThatStandsApartHoldsThoseInItsProgram) {
  Scenario s({.slices = 3});
  for (int slice = 0; slice < 3; ++slice) {
    s.PutSlice(slice, 0, kStep, kCollective);
    s.RunOther(slice, 3, "jit_eval", "cc03");
  }
  s.ForgetHlo();
  s.Tensor(1, 3, 0).sequencers.front().pc = 0x1ae;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 1.3.0");
}

// Nothing shows that a slice without work would not have got that launch, too.
TEST(DifferentModule, AnIdleSliceIsNotAtOddsWithAnotherProgram) {
  Scenario s;
  for (int task = 0; task < 4; ++task) {
    s.RunOther(0, task, "jit_save", "cc03");
    for (int chip = 0; chip < 4; ++chip)
      s.Tensor(0, task, chip).sequencers.front().hlo = "recv-done.7";
    s.MakeIdle(1, task);
  }
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

// In a job of several slices, the others may still wait for another slice, of which the odd host
// has got its part: connections that nobody reports on may be broken.
TEST(DifferentModule, WhoIsAheadMayHavePassedATransfer) {
  Scenario s;
  s.PutSlice(0, 0, kStep, kSomewhere);
  for (int task : {0, 1}) s.PutHost(0, task, 1, kApply, {2, 0x300, std::nullopt});
  s.PutSlice(1, 0, kStep, {3, 0xa00, std::nullopt});
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
  s.ProbeAll();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.0 0.1");
}

// All of them may wait for a mate of which nothing is known.
TEST(DifferentModule, NobodyIsNamedBesideAMateThatIsMissing) {
  Scenario s({.slices = 1});
  s.ForgetHlo();
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  for (int task : {0, 1, 3}) {
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).queued.clear();
  }
  s.PutHost(0, 2, 0, kStep + 1, kCollective);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
  s.Remove(0, 1);
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

// Data that does not arrive holds them in the program that the others have left.
TEST(DifferentModule, ABrokenConnectionExplainsTheHostsAtItsEnds) {
  Scenario s;
  for (const int slice : {0, 1}) s.RunOther(slice, 2, "jit_eval", "cc03");
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2 1.2");
  for (const int slice : {0, 1}) {
    Socket& socket = s.At(slice, 2).sockets.emplace_back();
    socket.peer = {1 - slice, 2};
    socket.unacked_bytes = 900'000;
    socket.since_ack_ms = kStillMs;
    socket.retransmits = 9;
  }
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.2 1.2");
}

// The others have been in that very launch, and have gone on.
TEST(DifferentModule, WhoStandsInALaunchThatTheOthersHaveLeftIsBehind) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  const Core odd = s.Tensor(0, 2, 0);
  const auto have_left = [&](int32_t launch_id) {
    for (int task : {0, 1, 3}) {
      Snapshot& snapshot = s.At(0, task);
      const auto program = static_cast<int32_t>(snapshot.programs.size());
      snapshot.programs.push_back({"jit_eval", "cc03"});
      for (int chip = 0; chip < 4; ++chip) {
        Transition& seen = s.Tensor(0, task, chip).transitions.emplace_back();
        seen.age_ms = 90'000;
        seen.program = program;
        seen.launch_id = launch_id;
      }
    }
  };
  // Another launch of the same program proves nothing about this launch.
  have_left(*odd.launch_id - 1);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  have_left(*odd.launch_id);
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

TEST(DifferentModule, WhoWaitsInAnotherLaunchForAnIdleHostHasNotDiverged) {
  Scenario s({.slices = 1});
  s.MakeIdle(0, 1);
  s.RunOther(0, 2, "jit_eval", "cc03");
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 2, chip).sequencers[0].hlo = "all-reduce.1";
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// Stages of two hosts each: only the name of the program shows the odd one.
TEST(DifferentModule, OfTwoHostsTheOneWhoseProgramNobodyElseKnows) {
  for (const bool known : {false, true}) {
    Scenario s({.tasks = 2});
    Cohort& first = s.capture.header.cohorts[0];
    Cohort second{.name = "stage 1", .workers = {{1, 0}, {1, 1}}, .sequence = {}};
    first.workers = {{0, 0}, {0, 1}};
    first.sequence.clear();
    s.capture.header.cohorts.push_back(second);
    s.RunOther(0, 1, "jit_warmup", "cc03");
    for (const int task : {0, 1}) s.RunOther(1, task, known ? "jit_step" : "jit_save", "dd04");
    for (const int task : {0, 1}) {
      for (int chip = 0; chip < 4; ++chip)
        s.Tensor(1, task, chip).sequencers[0].hlo = "recv-done.1";
    }
    EXPECT_EQ(Diagnose(s), known ? "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.1"
                                 : "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0 0.1");
  }
}

// Host 0.0 has left out the end of a step, in which its mate waits, and meets the other slice.
TEST(DifferentModule, WhoIsPastACollectiveOfItsSliceHasLeftItOut) {
  Scenario s({.tasks = 2});
  std::vector<SequenceEntry>& sequence = s.capture.header.cohorts[0].sequence;
  sequence.erase(sequence.begin());  // the learnt order knows jit_apply alone
  s.PutHost(0, 1, 1, kApply - 1, kCollectiveOfApply);
  for (const int slice : {0, 1}) {
    for (const int task : {0, 1}) {
      for (int chip = 0; chip < 4; ++chip) s.Tensor(slice, task, chip).queued.clear();
    }
  }
  for (const int64_t step : {11, 12}) {
    for (const int task : {0, 1}) s.At(0, task).progress = Progress{.step = 11};
    s.At(0, 0).progress->step = step;
    EXPECT_EQ(Diagnose(s), step == 12 ? "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0"
                                      : "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.1");
  }
}

// The other slices wait for a slice that is held up by one of its own cores, whatever they run.
TEST(DifferentModule, SlicesThatWaitForOneThatComputesHaveNotDiverged) {
  Scenario s({.slices = 3});
  for (const int slice : {1, 2}) {
    for (int task = 0; task < 4; ++task) {
      s.RunOther(slice, task, "jit_eval", "cc03");
      for (int chip = 0; chip < 4; ++chip) {
        s.Tensor(slice, task, chip).sequencers[0].hlo = "recv-done.1";
      }
    }
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(DifferentModule, ASliceInAnotherPhaseMayBeAheadOfTheOneThatIsHeldUp) {
  Scenario s({.slices = 3, .sparse_cores = 1});
  for (int task = 0; task < 4; ++task) s.RunOther(2, task, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 2.0 2.1 2.2 2.3");
  s.Put(s.Tensor(0, 1, 2), 0, kStep, {1, 0x280, std::nullopt});
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {28, 0x2d0, std::nullopt});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.1.2");
}

}  // namespace
}  // namespace rapideye::classifier::testing

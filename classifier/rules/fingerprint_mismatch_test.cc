#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

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

TEST_F(FingerprintsOfDumps, AreNotAskedWhereACoreIsKnown) {
  Scenario with_cores({.slices = 1});
  with_cores.capture.header.trigger = "no-progress";
  with_cores.At(0, 2).programs.push_back({"jit_step", "bb02"});
  EXPECT_EQ(Diagnose(with_cores), "UNKNOWN");
}

}  // namespace
}  // namespace rapideye::classifier::testing

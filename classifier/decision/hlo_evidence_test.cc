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

// Three compilations: two hosts have each its own, and each is compared with that of the others.
TEST(HloEvidence, EveryGroupIsAskedAndItsDifferenceTold) {
  Scenario s = Mismatch();
  s.RunOther(0, 3, "jit_step", "cc03");
  const Verdict before = Classify(s.capture);
  EXPECT_EQ(before.cause, Cause::kFingerprintMismatch);
  ASSERT_THAT(before.sides, SizeIs(3));
  EXPECT_EQ(before.sides[0].fingerprint, "cc03");
  EXPECT_THAT(before.sides[0].workers, ElementsAre(WorkerId{0, 3}));
  EXPECT_THAT(before.sides[1].workers, ElementsAre(WorkerId{0, 0}, WorkerId{0, 1}));
  EXPECT_EQ(before.sides[2].fingerprint, kOther);
  EXPECT_THAT(before.sides[2].workers, ElementsAre(WorkerId{0, 2}));
  s.capture.header.hlo_comparison = Compared(HloOutcome::kEqual);
  HloComparison& more =
      s.capture.header.more_hlo_comparisons.emplace_back(Compared(HloOutcome::kEqual));
  more.sides[0].worker = {0, 3};
  more.inputs.push_back({InputKind::kFlag, "xla_b", std::nullopt, {"2", "4"}});
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), Summary(before));
  const auto says = [&](const std::string& words) {
    return std::any_of(
        verdict.evidence.begin(), verdict.evidence.end(),
        [&](const EvidenceItem& item) { return item.statement.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says("flag xla_b is 2 on slice 0 task 3"));
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

TEST(HloEvidence, TwoBuildsOfLibtpuComeFirst) {
  Scenario s = Mismatch();
  HloComparison comparison = Compared(HloOutcome::kDifferent);
  comparison.sides[0].dump = "module_0001.jit_step.cl_829516930.after_optimizations.txt";
  comparison.sides[1].dump = "module_0001.jit_step.cl_933746096.after_optimizations.txt";
  s.capture.header.hlo_comparison = comparison;
  Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[0].statement,
              HasSubstr("libtpu differs: build cl_829516930 on slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("build cl_933746096 on slice 0 task 0"));
  // Of four workers three run the usual program.
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr(", whose program 2 more workers run"));
  EXPECT_THAT(verdict.evidence[0].statement, Not(HasSubstr("1 more")));
  EXPECT_EQ(verdict.evidence[0].strength, Strength::kStrong);
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr("first differs"));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("one build of libtpu"));

  // Both sides have one build, or the dump of one side names none.
  for (const char* dump : {"module_0007.jit_step.cl_933746096.after_optimizations.txt",
                           "module_0001.jit_step.after_optimizations.txt"}) {
    s.capture.header.hlo_comparison->sides[0].dump = dump;
    verdict = Classify(s.capture);
    EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("first differs")) << dump;
    EXPECT_THAT(verdict.actions[0].description, HasSubstr("where they first differ")) << dump;
  }
}

DifferingInput Differing(InputKind kind, const std::string& name, const std::string& first,
                         const std::string& second) {
  return {.kind = kind, .name = name, .more = std::nullopt, .values = {first, second}};
}

TEST(HloEvidence, WhatTheProgramsWereCompiledFromComesBeforeWhatCameOfIt) {
  Scenario s = Mismatch();
  HloComparison comparison = Compared(HloOutcome::kDifferent);
  comparison.inputs = {Differing(InputKind::kFlag, "xla_tpu_a", "2", "4"),
                       Differing(InputKind::kProgram, "train.py:106", "dot: bf16[64,8]", "")};
  comparison.inputs[0].more = 3;
  s.capture.header.hlo_comparison = comparison;
  Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("flag xla_tpu_a is 2 on slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr(" and 4 on slice 0 task 0"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr(", and 3 more differ"));
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr("train.py:106: only slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr(" has dot: bf16[64,8], in the programs"));
  EXPECT_THAT(verdict.evidence[2].statement, HasSubstr("first differs"));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("the same flags everywhere"));
  EXPECT_THAT(verdict.actions[1].description, HasSubstr("Look at train.py:106"));
  EXPECT_THAT(verdict.actions[2].description, HasSubstr("where they first differ"));

  s.capture.header.hlo_comparison->inputs[1].values[1] = "dot: bf16[32,8]";
  verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[1].statement,
              HasSubstr("train.py:106: dot: bf16[64,8] on slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[1].statement,
              HasSubstr(" against dot: bf16[32,8] on slice 0 task 0"));

  // Another build may bring other flags of its own, but not another program.
  s.capture.header.hlo_comparison->sides[0].dump = "module_0001.jit_step.cl_1.txt";
  s.capture.header.hlo_comparison->sides[1].dump = "module_0001.jit_step.cl_2.txt";
  verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("libtpu differs"));
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr("train.py:106"));
}

Setting Of(SettingKind kind, const std::string& name, const std::string& value) {
  Setting setting;
  setting.kind = kind;
  setting.name = name;
  setting.value = value;
  return setting;
}

constexpr char kFlag[] = "LIBTPU_INIT_ARGS:--xla_tpu_scoped_vmem_limit_kib";

// Task 2 runs another compilation.
Scenario MismatchWith(SettingKind kind, const std::string& name,
                      const std::vector<std::string>& values) {
  Scenario s = Mismatch();
  for (int task = 0; task < static_cast<int>(values.size()); ++task) {
    s.At(0, task).settings = {Of(SettingKind::kEnvironment, "TPU_TYPE", "v5e"),
                              Of(kind, name, values[static_cast<size_t>(task)])};
  }
  return s;
}

TEST(SettingsOfSides, WhatTheSidesWereCompiledWithIsSaidFirst) {
  const Scenario s = MismatchWith(SettingKind::kFlag, kFlag, {"16384", "16384", "65536", "16384"});
  const Verdict before = Classify(Mismatch().capture);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), Summary(before));
  EXPECT_EQ(verdict.confidence, before.confidence);
  ASSERT_THAT(verdict.evidence, SizeIs(before.evidence.size() + 1));
  EXPECT_THAT(verdict.evidence[0].statement,
              HasSubstr("scoped_vmem_limit_kib is 65536 on slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr(", and 16384 on 3 workers"));
  EXPECT_EQ(verdict.evidence[0].strength, Strength::kStrong);
  EXPECT_THAT(verdict.evidence[0].workers, ElementsAre(WorkerId{0, 2}));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("Start all workers with the same: "));
}

TEST(SettingsOfSides, AVersionComesBeforeAFlag) {
  Scenario s = MismatchWith(SettingKind::kFlag, kFlag, {"1", "1", "2", "1"});
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).settings.push_back(
        Of(SettingKind::kVersion, "libtpu", task == 2 ? "0.0.17" : "0.0.42"));
  }
  const Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("the version of libtpu is 0.0.17 on"));
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr("scoped_vmem"));
  EXPECT_THAT(verdict.actions[0].description, HasSubstr("Install one version everywhere"));
}

TEST(SettingsOfSides, WhoseVersionCouldNotBeReadIsInNoGroup) {
  Scenario s =
      MismatchWith(SettingKind::kVersion, "libtpu", {"0.0.42", "0.0.42", "0.0.17", "0.0.42"});
  s.At(0, 3).settings.pop_back();
  // A worker that only reports another setting belongs to no side.
  s.At(0, 3).programs.clear();
  s.At(0, 3).cores.clear();
  const Verdict verdict = Classify(s.capture);
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("0.0.17 on slice 0 task 2"));
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("0.0.42 on 2 workers"));
  EXPECT_THAT(verdict.evidence[0].statement, Not(HasSubstr("not set")));
}

// The smallest group first, whichever side it is on.
TEST(SettingsOfSides, AThirdValueIsAGroupOfItsOwn) {
  Scenario s = MismatchWith(SettingKind::kFlag, kFlag, {"1", "1", "2", "1"});
  s.capture.header.expected_workers.push_back({{0, 4}, "host-4", std::nullopt});
  Snapshot idle;
  idle.worker = {0, 4};
  idle.settings = {Of(SettingKind::kFlag, kFlag, "3")};
  s.capture.snapshots.push_back(idle);
  const Verdict verdict = Classify(s.capture);
  const std::string& said = verdict.evidence[0].statement;
  EXPECT_THAT(said, HasSubstr("is 2 on slice 0 task 2"));
  EXPECT_THAT(said, HasSubstr(", and 3 on slice 0 task 4"));
  EXPECT_THAT(said, HasSubstr(", and 1 on 3 workers"));
}

TEST(SettingsOfSides, WhatDoesNotSplitTheSidesIsNoReason) {
  const std::vector<std::vector<std::string>> cases = {
      {"1", "1", "1", "1"},
      {"2", "1", "2", "1"},  // one of the others has the value of the odd one
      {"1", "2", "3", "4"},  // each its own
  };
  for (const auto& values : cases) {
    for (const SettingKind kind : {SettingKind::kFlag, SettingKind::kVersion}) {
      for (const RecommendedAction& action :
           Classify(MismatchWith(kind, "x", values).capture).actions) {
        EXPECT_THAT(action.description, Not(HasSubstr("takes part in what is compiled")));
      }
    }
  }
  // A version that could not be read is left out, but a flag that is not set counts.
  for (const SettingKind kind : {SettingKind::kFlag, SettingKind::kVersion}) {
    Scenario s = MismatchWith(kind, "x", {"1", "1", "1", "1"});
    s.At(0, 2).settings.pop_back();
    const bool said = Classify(s.capture).actions[0].description.find(
                          "takes part in what is compiled") != std::string::npos;
    EXPECT_EQ(said, kind == SettingKind::kFlag);
  }
  // A setting that takes no part in compilation is not compared.
  const Verdict other = Classify(
      MismatchWith(SettingKind::kEnvironment, "MEGASCALE_X", {"1", "1", "2", "1"}).capture);
  EXPECT_THAT(other.actions[0].description, Not(HasSubstr("takes part in what is compiled")));
  const Verdict mine =
      Classify(MismatchWith(SettingKind::kEnvironment, "JAX_X", {"1", "1", "2", "1"}).capture);
  EXPECT_THAT(mine.actions[0].description, HasSubstr("takes part in what is compiled"));
}

TEST(SettingsOfSides, AnotherModuleComesOfTheScript) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_eval", kOther);
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).settings = {Of(SettingKind::kVersion, "libtpu", task == 2 ? "0.0.17" : "0.0.42")};
  }
  HloComparison comparison = Compared(HloOutcome::kDifferent);
  comparison.sides[0].dump = "module_0001.jit_eval.cl_829516930.after_optimizations.txt";
  comparison.sides[1].dump = "module_0001.jit_step.cl_933746096.after_optimizations.txt";
  s.capture.header.hlo_comparison = comparison;
  const Verdict verdict = Classify(s.capture);
  ASSERT_EQ(verdict.cause, Cause::kDifferentModule);
  EXPECT_THAT(verdict.evidence[0].statement, HasSubstr("the version of libtpu is 0.0.17"));
  EXPECT_THAT(verdict.evidence[1].statement, HasSubstr("libtpu differs: build"));
  for (const RecommendedAction& action : verdict.actions) {
    EXPECT_THAT(action.description, Not(HasSubstr("Install one")));
  }
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

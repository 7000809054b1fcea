#include "tests/testbed/model/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace rapideye::testbed {
namespace {

StepOptions Options(int programs, Compilation compilation = Compilation::kUsual) {
  return {.programs = programs,
          .cross_slice = true,
          .step_time = absl::Milliseconds(100),
          .compilation = compilation};
}

std::vector<ProgramPtr> EveryProgram(bool cross_slice) {
  std::vector<ProgramPtr> all;
  for (int programs : {1, 2}) {
    StepOptions options = Options(programs);
    options.cross_slice = cross_slice;
    for (const ProgramPtr& program : MakeStep(options)) all.push_back(program);
    all.push_back(MakeOtherProgram(options));
  }
  return all;
}

TEST(Program, PositionsAreDistinctAndNeverZero) {
  for (const ProgramPtr& program : EveryProgram(true)) {
    std::set<int64_t> pcs;
    std::set<std::string> names;
    for (const Operation& op : program->operations) {
      EXPECT_GT(op.pc, 0);
      EXPECT_TRUE(pcs.insert(op.pc).second) << op.hlo;
      EXPECT_TRUE(names.insert(op.hlo).second) << op.hlo;
    }
  }
}

TEST(Program, HasComputeOnBothSidesOfItsLastCollective) {
  for (bool cross_slice : {true, false}) {
    for (const ProgramPtr& program : EveryProgram(cross_slice)) {
      EXPECT_GE(program->LastCollective(), 0) << program->module;
      EXPECT_FALSE(ComputeBefore(*program).empty()) << program->module;
      EXPECT_FALSE(ComputeAfter(*program).empty()) << program->module;
    }
  }
}

TEST(Program, ReceivesOnlyWhatItHasSent) {
  for (const ProgramPtr& program : EveryProgram(true)) {
    int open = 0;
    for (const Operation& op : program->operations) {
      if (op.kind == OperationKind::kSend) ++open;
      if (op.kind == OperationKind::kReceive) --open;
      EXPECT_GE(open, 0) << program->module;
    }
    EXPECT_EQ(open, 0) << program->module;
  }
}

TEST(Program, OneSliceHasNoTransfers) {
  for (const ProgramPtr& program : EveryProgram(false)) {
    for (const Operation& op : program->operations) {
      EXPECT_NE(op.kind, OperationKind::kSend);
      EXPECT_NE(op.kind, OperationKind::kReceive);
    }
  }
}

TEST(Program, OffloadsToSparseCoresOnlyIfAsked) {
  for (bool offload : {true, false}) {
    StepOptions options = Options(2);
    options.offload = offload;
    for (const ProgramPtr& program : MakeStep(options)) {
      std::vector<OperationKind> found;
      for (const Operation& op : program->operations) {
        if (op.kind == OperationKind::kOffload || op.kind == OperationKind::kAwaitOffload) {
          found.push_back(op.kind);
        }
      }
      if (!offload) {
        EXPECT_TRUE(found.empty()) << program->module;
        EXPECT_EQ(program->sparse, nullptr);
        continue;
      }
      EXPECT_EQ(found, (std::vector{OperationKind::kOffload, OperationKind::kAwaitOffload}));
      ASSERT_NE(program->sparse, nullptr);
      EXPECT_EQ(program->sparse->fingerprint, program->fingerprint);
      EXPECT_FALSE(program->sparse->operations.empty());
    }
  }
}

TEST(Program, StagesOfAPipelineDifferAndShareTheirChannel) {
  StepOptions first = Options(1);
  first.stage = 0;
  StepOptions second = Options(1);
  second.stage = 1;
  const ProgramPtr a = MakeStep(first)[0];
  const ProgramPtr b = MakeStep(second)[0];
  EXPECT_EQ(a->module, "jit_train_step_stage0");
  EXPECT_EQ(b->module, "jit_train_step_stage1");
  EXPECT_NE(a->fingerprint, b->fingerprint);
  EXPECT_EQ(a->channel, b->channel);
  EXPECT_NE(a->channel, MakeOtherProgram(first)->channel);
  const ProgramPtr alone = MakeStep(Options(1))[0];
  EXPECT_EQ(alone->channel, alone->fingerprint);
}

TEST(Program, ComputeFillsTheStepTime) {
  for (int programs : {1, 2}) {
    absl::Duration sum;
    for (const ProgramPtr& program : MakeStep(Options(programs))) {
      for (const Operation& op : program->operations) sum += op.duration;
    }
    EXPECT_NEAR(absl::ToDoubleMilliseconds(sum), 100, 0.001);
  }
}

TEST(Program, FingerprintFollowsFromContent) {
  EXPECT_EQ(MakeStep(Options(1))[0]->fingerprint, MakeStep(Options(1))[0]->fingerprint);
  std::set<Fingerprint> distinct;
  for (const ProgramPtr& program : MakeStep(Options(2))) distinct.insert(program->fingerprint);
  distinct.insert(MakeStep(Options(1))[0]->fingerprint);
  distinct.insert(MakeOtherProgram(Options(1))->fingerprint);
  EXPECT_EQ(distinct.size(), 4u);
}

TEST(Program, DivergentCompilationIsTheSameModuleElsewhere) {
  const ProgramPtr usual = MakeStep(Options(1))[0];
  const ProgramPtr divergent = MakeStep(Options(1, Compilation::kDivergent))[0];
  EXPECT_EQ(usual->module, divergent->module);
  EXPECT_NE(usual->fingerprint, divergent->fingerprint);
  EXPECT_NE(usual->build, divergent->build);
  ASSERT_EQ(usual->operations.size(), divergent->operations.size());
  EXPECT_NE(usual->operations.back().pc, divergent->operations.back().pc);
}

TEST(Program, TellsItsHloAsTheRuntimeDoes) {
  const ProgramPtr program = MakeStep(Options(1))[0];
  const Operation& op = program->operations[2];
  EXPECT_EQ(HloLocation(*program, op),
            "HLO: all-reduce.3; HLO computation: main.12_spmd; HLO module: jit_train_step");
  const nlohmann::json details = nlohmann::json::parse(HloDetails(*program, op));
  ASSERT_TRUE(details.is_array());
  EXPECT_EQ(details[0]["opcode"], "all-reduce");
}

TEST(Program, FingerprintHexIsLowerCase) {
  Fingerprint fingerprint{};
  fingerprint[0] = 0xAB;
  EXPECT_EQ(FingerprintHex(fingerprint), "ab000000000000000000000000000000");
}

}  // namespace
}  // namespace rapideye::testbed

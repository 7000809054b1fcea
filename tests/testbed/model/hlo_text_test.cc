#include "tests/testbed/model/hlo_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classifier/hlo/difference.h"
#include "classifier/hlo/module.h"

namespace rapideye::testbed {
namespace {

using ::testing::HasSubstr;

ProgramPtr Compiled(Compilation compilation) {
  return MakeStep({.programs = 1,
                   .cross_slice = true,
                   .offload = false,
                   .step_time = absl::Milliseconds(100),
                   .compilation = compilation,
                   .stage = kNoStage})[0];
}

TEST(HloText, HoldsTheProgramsOperations) {
  const ProgramPtr program = Compiled(Compilation::kUsual);
  const std::string text = HloText(*program);
  const auto module = classifier::ParseHloModule(text);
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(module->name, program->module);
  ASSERT_GE(module->entry, 0);
  const classifier::HloComputation& entry =
      module->computations[static_cast<size_t>(module->entry)];
  EXPECT_EQ(entry.name, program->computation);
  EXPECT_EQ(entry.instructions.size(), program->operations.size() + 1);
  EXPECT_EQ(entry.instructions[1].name, program->operations[0].hlo);
}

TEST(HloText, OfTwoCompilationsDiffersWhereTheFirstOneComputes) {
  const std::string usual = HloText(*Compiled(Compilation::kUsual));
  const std::string divergent = HloText(*Compiled(Compilation::kDivergent));
  const auto difference = classifier::CompareHlo({usual, false}, {divergent, false});
  EXPECT_EQ(difference.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(difference.position, 3);
  EXPECT_THAT(difference.places[0].instruction, HasSubstr("fusion"));
}

TEST(HloText, OfTheSourceDiffersOnlyByTheScript) {
  const std::string usual = SourceText(*Compiled(Compilation::kUsual));
  EXPECT_EQ(SourceText(*Compiled(Compilation::kDivergent)), usual);
  EXPECT_EQ(SourceText(*Compiled(Compilation::kOtherFlags)), usual);
  const std::string other = SourceText(*Compiled(Compilation::kOtherSource));
  const auto difference = classifier::CompareHlo({usual, false}, {other, false});
  EXPECT_EQ(difference.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(difference.places[0].shape, "f32[8,128]");
  EXPECT_EQ(difference.places[1].shape, "f32[16,128]");
  EXPECT_TRUE(classifier::ParseHloModule(usual)->complete);
}

}  // namespace
}  // namespace rapideye::testbed

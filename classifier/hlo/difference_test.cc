#include "classifier/hlo/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "classifier/hlo/module.h"

namespace rapideye::classifier {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// As XLA dumps it by default.
constexpr char kShort[] =
    R"(HloModule jit_train_step, is_scheduled=true, entry_computation_layout={(f32[8,128]{1,0})->f32[8,128]{1,0}}, num_partitions=4

FileNames
1 "/home/me/train.py"

fused_computation {
  param_0.1 = f32[8,128]{1,0:T(8,128)} parameter(0)
  constant.4 = f32[] constant(2), metadata={op_name="jit(f)/mul" source_file="train.py" source_line=31}
  broadcast.2 = f32[8,128]{1,0:T(8,128)} broadcast(constant.4), dimensions={}
  ROOT multiply.7 = f32[8,128]{1,0:T(8,128)} multiply(param_0.1, broadcast.2)
}

region_0.5 {
  Arg_0.6 = f32[] parameter(0)
  Arg_1.7 = f32[] parameter(1)
  ROOT add.8 = f32[] add(Arg_0.6, Arg_1.7)
}

ENTRY main.12_spmd {
  param.1 = f32[8,128]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1]<=[4]}
  fusion.3 = f32[8,128]{1,0:T(8,128)} fusion(param.1), kind=kLoop, calls=fused_computation, metadata={op_name="jit(f)/mul" source_line=31}
  all-reduce.4 = f32[8,128]{1,0:T(8,128)} all-reduce(fusion.3), channel_id=1, replica_groups={{0,1,2,3}}, to_apply=region_0.5
  ROOT copy.9 = f32[8,128]{1,0:T(8,128)} copy(all-reduce.4)
}
)";

std::string With(const std::string& from, const std::string& to, std::string text = kShort) {
  std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return changed;
}

HloDifference Compare(const std::string& left, const std::string& right) {
  return CompareHlo({left, false}, {right, false});
}

TEST(HloModuleText, IsTakenApart) {
  const std::optional<HloModule> module = ParseHloModule(kShort);
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(module->name, "jit_train_step");
  EXPECT_THAT(std::string(module->attributes), HasSubstr("num_partitions=4"));
  ASSERT_THAT(module->computations, SizeIs(3));
  ASSERT_EQ(module->entry, 2);
  const HloComputation& entry = module->computations[2];
  EXPECT_EQ(entry.name, "main.12_spmd");
  EXPECT_TRUE(entry.complete);
  ASSERT_THAT(entry.instructions, SizeIs(4));
  EXPECT_EQ(entry.instructions[3].name, "copy.9");
  EXPECT_EQ(entry.instructions[3].text, "f32[8,128]{1,0:T(8,128)} copy(all-reduce.4)");
}

TEST(HloModuleText, LongFormAndConstantsOverSeveralLines) {
  const std::optional<HloModule> module = ParseHloModule(
      "HloModule m\n"
      "\n"
      "ENTRY %main.3 (p: f32[2]) -> f32[2] {\n"
      "  %constant.1 = f32[2,2]{1,0} constant({\n"
      "    { 1, 2 },\n"
      "    { 3, 4 } })\n"
      "  ROOT %add.2 = f32[2]{0} add(f32[2]{0} %p, f32[2]{0} %p)\n"
      "}, execution_thread=\"host\"\n");
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(module->name, "m");
  EXPECT_EQ(module->attributes, "");
  ASSERT_THAT(module->computations, SizeIs(1));
  EXPECT_EQ(module->computations[0].name, "main.3");
  ASSERT_THAT(module->computations[0].instructions, SizeIs(2));
  EXPECT_EQ(module->computations[0].instructions[0].text,
            "f32[2,2]{1,0} constant({\n    { 1, 2 },\n    { 3, 4 } })");
  EXPECT_EQ(module->computations[0].instructions[1].name, "add.2");
}

TEST(HloModuleText, WhatIsNoHloIsNone) {
  EXPECT_FALSE(ParseHloModule("").has_value());
  EXPECT_FALSE(ParseHloModule("BufferAssignment:\nallocation 0: size 4\n").has_value());
  EXPECT_EQ(HloModuleName("// a comment\nHloModule jit_f.3, is_scheduled=true\n"), "jit_f.3");
  EXPECT_EQ(HloModuleName("HloModuleConfig x\n"), "");
}

TEST(HloDifference, SameBytes) {
  EXPECT_EQ(Compare(kShort, kShort).outcome, HloOutcome::kEqual);
  EXPECT_EQ(CompareHlo({kShort, true}, {kShort, true}).outcome, HloOutcome::kEqualAsFarAsRead);
}

TEST(HloDifference, NamesAndSourceLinesMakeNone) {
  std::string other = With("source_line=31", "source_line=40");
  other = With("fusion.3", "fusion.8", other);
  other = With("fused_computation", "fused_computation.2", other);
  other = With("region_0.5", "region_4.77", other);
  other = With("main.12_spmd", "main.99_spmd", other);
  EXPECT_EQ(Compare(kShort, other).outcome, HloOutcome::kEqualButForNames);
}

TEST(HloDifference, OpcodeInTheEntryComputation) {
  const HloDifference found = Compare(kShort, With("copy(all-reduce.4)", "negate(all-reduce.4)"));
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, 4);
  EXPECT_EQ(found.places[0].computation, "main.12_spmd");
  EXPECT_EQ(found.places[0].instruction, "copy.9 = f32[8,128]{1,0:T(8,128)} copy(all-reduce.4)");
  EXPECT_EQ(found.places[1].instruction, "copy.9 = f32[8,128]{1,0:T(8,128)} negate(all-reduce.4)");
}

TEST(HloDifference, InsideAFusionComesBeforeWhatFollowsIt) {
  const std::string other =
      With("copy(all-reduce.4)", "negate(all-reduce.4)", With("constant(2)", "constant(3)"));
  const HloDifference found = Compare(kShort, other);
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.places[1].computation, "fused_computation");
  EXPECT_EQ(found.position, 2);
  EXPECT_THAT(found.places[1].instruction, HasSubstr("constant(3)"));
}

TEST(HloDifference, InsideAFusionWithoutOperands) {
  const std::string without = With("fusion(param.1)", "fusion()");
  EXPECT_EQ(Compare(without, With("constant(2)", "constant(3)", without)).places[1].computation,
            "fused_computation");
}

TEST(HloDifference, OperandsAreComparedByWhereTheyComeFrom) {
  const HloDifference found = Compare(kShort, With("copy(all-reduce.4)", "copy(fusion.3)"));
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, 4);
}

TEST(HloDifference, ChannelsAndLayoutsCount) {
  EXPECT_EQ(Compare(kShort, With("channel_id=1", "channel_id=2")).position, 3);
  const std::string copy = "copy.9 = f32[8,128]{1,0:T(8,128)}";
  EXPECT_EQ(Compare(kShort, With(copy, "copy.9 = f32[8,128]{0,1:T(8,128)}")).position, 4);
}

TEST(HloDifference, AnInstructionMore) {
  const HloDifference found =
      Compare(kShort, With("  ROOT copy.9", "  after-all.1 = token[] after-all()\n  ROOT copy.9"));
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, 4);
  EXPECT_EQ(found.places[1].instruction, "after-all.1 = token[] after-all()");

  const HloDifference at_the_end = Compare(
      kShort, With("copy(all-reduce.4)\n", "copy(all-reduce.4)\n  extra = token[] after-all()\n"));
  ASSERT_EQ(at_the_end.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(at_the_end.position, 5);
  EXPECT_EQ(at_the_end.places[0].instruction, "");
  EXPECT_EQ(at_the_end.places[0].computation, "main.12_spmd");
}

// The constants follow from the arguments, and stand before them in the text.
constexpr char kArguments[] = R"(HloModule jit_step, num_partitions=4

FileNames
1 "/job/train.py"

FileLocations
1 {file_name_id=1 function_name_id=1 line=106 end_line=106 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%body (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %tanh.1 = f32[4]{0} tanh(%a), metadata={op_name="layer/tanh" stack_frame_id=1}
}

ENTRY %main (p1: bf16[64,8], p0: f32[4]) -> f32[4] {
  %constant.1 = f32[] constant(0.5)
  %p1 = bf16[64,8]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  %p0 = f32[4]{0} parameter(0), sharding={replicated}, metadata={op_name="w"}
  %spread = f32[4]{0} broadcast(%constant.1), dimensions={}
  %mul = f32[4]{0} multiply(%p0, %spread), metadata={op_name="step/mul" stack_frame_id=1}
  ROOT %call.1 = f32[4]{0} call(%mul), to_apply=%body
}
)";

TEST(HloDifference, ParametersComeBeforeWhatFollowsFromThem) {
  const std::string constant = With("constant(0.5)", "constant(0.25)", kArguments);
  const HloDifference shape = Compare(kArguments, With("bf16[64,8]", "bf16[32,8]", constant));
  EXPECT_EQ(shape.position, 2);
  EXPECT_EQ(shape.places[0].operation, "x");
  EXPECT_EQ(shape.places[0].shape, "bf16[64,8]");
  EXPECT_EQ(shape.places[1].shape, "bf16[32,8]");

  const HloDifference sharding =
      Compare(kArguments, With("devices=[4,1]", "devices=[1,4]", constant));
  EXPECT_EQ(sharding.places[0].sharding, "{devices=[4,1]<=[4]}");
  EXPECT_EQ(sharding.places[1].sharding, "{devices=[1,4]<=[4]}");

  // Some builds do not state shardings: that is no difference of the arguments.
  const HloDifference unsaid =
      Compare(kArguments, With(", sharding={devices=[4,1]<=[4]}", "", constant));
  EXPECT_EQ(unsaid.position, 1);
  EXPECT_EQ(unsaid.places[0].sharding, "");
}

TEST(HloDifference, AParameterMore) {
  const std::string one_more =
      With("  %spread", "  %p2 = f32[2]{0} parameter(2), metadata={op_name=\"bias\"}\n  %spread",
           With("constant(0.5)", "constant(0.25)", kArguments));
  const HloDifference found = Compare(one_more, kArguments);
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, 4);
  EXPECT_EQ(found.places[0].operation, "bias");
  EXPECT_EQ(found.places[1].instruction, "");
}

TEST(HloDifference, OfAConstantTheOperationThatUsesIt) {
  const HloDifference found = Compare(kArguments, With("constant(0.5)", "constant(2)", kArguments));
  EXPECT_EQ(found.position, 1);
  EXPECT_EQ(found.places[0].name, "constant.1");
  EXPECT_EQ(found.places[0].operation, "step/mul");
  EXPECT_EQ(ShortSourceLine(found.places[0].source), "train.py:106");
}

TEST(HloDifference, OfCallsThatDifferWhatTheyCall) {
  const std::string called = "%call.1 = f32[4]{0} call";
  const std::string wider = With(called, "%call.1 = (f32[4]{0}, f32[4]{0}) call", kArguments);
  const HloDifference inside = Compare(kArguments, With("tanh(%a)", "negate(%a)", wider));
  EXPECT_EQ(inside.places[0].computation, "body");
  EXPECT_EQ(inside.places[0].operation, "layer/tanh");
  const HloDifference outside = Compare(kArguments, wider);
  EXPECT_EQ(outside.places[0].name, "call.1");
}

// Where the programs differ, the instruction stands at another place of either text.
TEST(HloDifference, TheOrderOfTheSidesMakesNoDifference) {
  constexpr char kLeft[] = R"(HloModule m
ENTRY main {
  p = r
  p = f32[8]{0} parameter(0)
}
)";
  constexpr char kRight[] = R"(HloModule m
ENTRY main {
  p = f32[8]{0} parameter(0)
  r = 2
}
)";
  const HloDifference found = Compare(kLeft, kRight);
  EXPECT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, Compare(kRight, kLeft).position);
}

TEST(HloDifference, TheModulesOwnAttributesComeLast) {
  const HloDifference found = Compare(kShort, With("num_partitions=4", "num_partitions=8"));
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(found.position, 0);
  EXPECT_EQ(found.places[0].computation, "");
  EXPECT_THAT(found.places[1].instruction, HasSubstr("num_partitions=8"));
}

TEST(HloDifference, LongInstructionsAreShownAroundTheDifference) {
  std::string operands;
  for (int i = 0; i < 500; ++i) absl::StrAppend(&operands, i == 0 ? "" : ", ", "f32[", i, "]");
  const std::string left = With("copy(all-reduce.4)", absl::StrCat("tuple(", operands, ")"));
  const HloDifference found = Compare(left, With("f32[250]", "f32[251,1]", left));
  ASSERT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_THAT(found.places[0].instruction, HasSubstr("f32[250]"));
  EXPECT_THAT(found.places[1].instruction, HasSubstr("f32[251,1]"));
  EXPECT_LE(found.places[0].instruction.size(), kMaxHloExcerptBytes);
}

TEST(HloDifference, TextsThatWereCut) {
  const std::string whole = kShort;
  const std::string part = whole.substr(0, whole.find("ROOT copy.9"));
  EXPECT_EQ(CompareHlo({part, true}, {whole, false}).outcome, HloOutcome::kEqualAsFarAsRead);
  const std::string in_a_word = whole.substr(0, whole.find("channel_id") + 3);
  EXPECT_EQ(CompareHlo({whole, false}, {in_a_word, true}).outcome, HloOutcome::kEqualAsFarAsRead);
  // A difference before the cut counts, also when it lies before the entry.
  const HloDifference found =
      CompareHlo({part, true}, {With("kind=kLoop", "kind=kInput", whole), false});
  EXPECT_EQ(found.outcome, HloOutcome::kDifferent);
  const std::string no_entry = whole.substr(0, whole.find("ENTRY"));
  const HloDifference early =
      CompareHlo({no_entry, true}, {With("constant(2)", "constant(3)", no_entry), true});
  EXPECT_EQ(early.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(early.places[0].computation, "fused_computation");
}

TEST(HloDifference, WhatIsNoHloIsNotCompared) {
  EXPECT_EQ(Compare(kShort, "BufferAssignment:\n").outcome, HloOutcome::kNotComparable);
  EXPECT_EQ(Compare("x", "x").outcome, HloOutcome::kNotComparable);
}

TEST(HloDifference, ComputationsThatCallEachOtherEnd) {
  const auto text = [](const char* constant) {
    return absl::StrCat(
        "HloModule m\n"
        "a {\n  x = f32[] call(y), to_apply=b\n}\n"
        "b {\n  x = f32[] call(y), to_apply=a\n  z = f32[] constant(",
        constant,
        ")\n}\n"
        "ENTRY main {\n  x = f32[] call(y), to_apply=a\n}\n");
  };
  EXPECT_EQ(Compare(text("1"), text("1.0")).outcome, HloOutcome::kDifferent);
  EXPECT_EQ(Compare(text("1"), With("HloModule m", "HloModule m\n", text("1"))).outcome,
            HloOutcome::kEqualButForNames);
}

}  // namespace
}  // namespace rapideye::classifier

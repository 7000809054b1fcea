#include "classifier/hlo/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "classifier/hlo/difference.h"

namespace rapideye::classifier {
namespace {

// As JAX hands a program to the compiler.
constexpr char kStep[] = R"(HloModule jit_step, num_partitions=4

FileNames
1 "/job/train.py"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=9}
2 {file_name_id=1 function_name_id=1 line=13 end_line=13 column=1 end_column=9}
3 {file_name_id=1 function_name_id=1 line=17 end_line=17 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%a, %b)
}

%body.1 (c: (f32[8], s32[])) -> (f32[8], s32[]) {
  %c = (f32[8], s32[]) parameter(0)
  %c.0 = f32[8]{0} get-tuple-element(%c), index=0
  %tanh.1 = f32[8]{0} tanh(%c.0), metadata={op_name="layer/tanh" stack_frame_id=1}
  %c.1 = s32[] get-tuple-element(%c), index=1
  ROOT %tuple.1 = (f32[8], s32[]) tuple(%tanh.1, %c.1)
}

ENTRY %main.2 (w: f32[8], x: f32[8]) -> f32[] {
  %w = f32[8]{0} parameter(0), sharding={replicated}, metadata={op_name="w"}
  %x = f32[8]{0} parameter(1), sharding={replicated}, metadata={op_name="x"}
  %mul.1 = f32[8]{0} multiply(%w, %x), metadata={op_name="mul" stack_frame_id=1}
  %zero = s32[] constant(0)
  %start = (f32[8], s32[]) tuple(%mul.1, %zero)
  %while.1 = (f32[8], s32[]) while(%start), body=%body.1, metadata={op_name="while" stack_frame_id=2}
  %h = f32[8]{0} get-tuple-element(%while.1), index=0
  %none = f32[] constant(0)
  ROOT %sum.1 = f32[] reduce(%h, %none), dimensions={0}, to_apply=%region_0.1, metadata={op_name="loss" stack_frame_id=3}
}
)";

std::string With(const std::string& from, const std::string& to, std::string text = kStep) {
  std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return changed;
}

// "mul.1 | " of an instruction that only the left side has.
std::string NamesOf(const HloDifference& difference) {
  return absl::StrCat(difference.places[0].name, " | ", difference.places[1].name);
}

HloDifference Compare(const std::string& left, const std::string& right) {
  HloDifference found = CompareHlo({left, false}, {right, false});
  // The sides may be exchanged.
  const HloDifference turned = CompareHlo({right, false}, {left, false});
  EXPECT_EQ(turned.places[0].name, found.places[1].name);
  EXPECT_EQ(turned.places[1].name, found.places[0].name);
  EXPECT_EQ(found.outcome, turned.outcome);
  return found;
}

// A print makes its operand's mean, and moves a parameter to the front.
std::string WithAPrint() {
  const std::string parameter =
      "  %x = f32[8]{0} parameter(1), sharding={replicated}, metadata={op_name=\"x\"}\n";
  const std::string front = "  %w = f32[8]{0} parameter(0)";
  return With("  %zero = ", R"(  %top = f32[] constant(0)
  %mean.1 = f32[] reduce(%mul.1, %top), dimensions={0}, to_apply=%region_0.1, metadata={op_name="mean" stack_frame_id=2}
  %token.1 = token[] after-all()
  %print.1 = (f32[], u32[], token[]) send(%mean.1, %token.1), channel_id=1, is_host_transfer=true, metadata={op_name="debug_print" stack_frame_id=2}
  %zero = )",
              With(front, parameter + front, With(parameter, "")));
}

TEST(HloOrigin, APrintThatOneSideHas) {
  const HloDifference found = Compare(kStep, WithAPrint());
  EXPECT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(NamesOf(found), " | mean.1");
  EXPECT_EQ(ShortSourceLine(found.places[1].source), "train.py:13");
  EXPECT_EQ(found.places[0].instruction, "");
  EXPECT_EQ(found.places[0].computation, "main.2");
}

TEST(HloOrigin, WhatComputesFromSomethingElseIsNone) {
  const std::string halved =
      With("%start = (f32[8], s32[]) tuple(%mul.1",
           "%neg.1 = f32[8]{0} negate(%mul.1), metadata={op_name=\"neg\" stack_frame_id=2}\n"
           "  %start = (f32[8], s32[]) tuple(%neg.1");
  const HloDifference found = Compare(kStep, halved);
  EXPECT_EQ(NamesOf(found), " | neg.1");
  EXPECT_EQ(found.places[0].computation, "main.2");
  EXPECT_EQ(ShortSourceLine(found.places[1].source), "train.py:13");
}

TEST(HloOrigin, AnotherConstantOrShape) {
  EXPECT_EQ(NamesOf(Compare(kStep, With("s32[] constant(0)", "s32[] constant(1)"))), "zero | zero");
  EXPECT_EQ(NamesOf(Compare(kStep, With("f32[8]{0} multiply", "bf16[8]{0} multiply"))),
            "mul.1 | mul.1");
}

TEST(HloOrigin, WithinAReductionItIsTheReductions) {
  const HloDifference found = Compare(kStep, With("f32[] add(%a", "f32[] maximum(%a"));
  EXPECT_EQ(NamesOf(found), "add.1 | add.1");
  EXPECT_EQ(found.places[0].computation, "region_0.1");
  EXPECT_EQ(found.places[0].operation, "loss");
  EXPECT_EQ(ShortSourceLine(found.places[0].source), "train.py:17");
}

TEST(HloOrigin, WithinALoopItIsTheLoopsOwn) {
  const HloDifference found = Compare(kStep, With("tanh(%c.0)", "logistic(%c.0)"));
  EXPECT_EQ(NamesOf(found), "tanh.1 | tanh.1");
  EXPECT_EQ(found.places[1].computation, "body.1");
  EXPECT_EQ(ShortSourceLine(found.places[1].source), "train.py:10");
}

TEST(HloOrigin, TheSameInstructionsOfOtherOperands) {
  const HloDifference found = Compare(With("multiply(%w, %x)", "subtract(%w, %x)"),
                                      With("multiply(%w, %x)", "subtract(%x, %w)"));
  EXPECT_EQ(NamesOf(found), "mul.1 | mul.1");
}

TEST(HloOrigin, ChannelsAndShardingsOfParametersDoNotCount) {
  const std::string print = WithAPrint();
  const std::string other = With("channel_id=1", "channel_id=7", print);
  const HloModule left = *ParseHloModule(print);
  EXPECT_FALSE(FindHloOrigin(left, *ParseHloModule(other)).has_value());
  const std::string unsaid = With(", sharding={replicated}", "", print);
  EXPECT_FALSE(FindHloOrigin(left, *ParseHloModule(unsaid)).has_value());
  // The texts differ all the same.
  EXPECT_EQ(Compare(print, other).outcome, HloOutcome::kDifferent);
}

TEST(HloOrigin, OfCompiledProgramsTheOrderCounts) {
  const std::string scheduled = "jit_step, is_scheduled=true,";
  const HloDifference found =
      Compare(With("jit_step,", scheduled), With("jit_step,", scheduled, WithAPrint()));
  EXPECT_EQ(found.position, 1);
  EXPECT_EQ(found.places[1].operation, "x");
}

TEST(HloOrigin, ComputationsThatCallEachOtherEnd) {
  const auto text = [](const char* constant) {
    return absl::StrCat(
        "HloModule m\n"
        "a {\n  x = f32[] call(), to_apply=b\n}\n"
        "b {\n  x = f32[] call(), to_apply=a\n  z = f32[] constant(",
        constant, ")\n}\nENTRY main {\n  x = f32[] call(), to_apply=a\n}\n");
  };
  EXPECT_EQ(NamesOf(Compare(text("1"), text("2"))), "z | z");
}

}  // namespace
}  // namespace rapideye::classifier

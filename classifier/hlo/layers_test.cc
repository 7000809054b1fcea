#include "classifier/hlo/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/hlo_samples.h"

namespace rapideye::classifier {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::array<std::string, 2>& Sides() {
  static const auto* const sides = new std::array<std::string, 2>{"the first", "the second"};
  return *sides;
}

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  std::string changed = text;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

HloDump DumpOf(std::string_view after) {
  HloDump dump;
  dump.after.text = after;
  return dump;
}

HloDumpDifference Compared(const std::string& left, const std::string& right) {
  return CompareHloDumps(DumpOf(left), DumpOf(right), Sides());
}

// Compares in both directions.
HloDumpDifference ComparedSamples(const std::string& left, const std::string& right) {
  const std::string a = ReadHloSample(left);
  const std::string b = ReadHloSample(right);
  EXPECT_EQ(Compared(b, a).outcome, Compared(a, b).outcome);
  return Compared(a, b);
}

TEST(HloLayers, WhatStandsBehindAKernelOfSeveralLines) {
  const HloDumpDifference found = ComparedSamples("kernels-v5e.txt", "kernels-v5e-max.txt");
  EXPECT_EQ(found.outcome, HloOutcome::kDifferent);
  ASSERT_THAT(found.layers, SizeIs(1));
  EXPECT_THAT(found.sentence,
              AllOf(HasSubstr("shard_map/reduce_sum against "), HasSubstr("shard_map/reduce_max")));
  EXPECT_THAT(found.sentence, HasSubstr("train.py:118"));
}

TEST(HloLayers, AProgramThatIsCheckedOutElsewhereIsTheSame) {
  const HloDumpDifference found = ComparedSamples("kernels-v5e.txt", "kernels-v5e-elsewhere.txt");
  EXPECT_EQ(found.outcome, HloOutcome::kEqualButForNames);
  EXPECT_THAT(found.layers, IsEmpty());
}

TEST(HloLayers, AnArgumentThatDiffersIsNamed) {
  const std::string left =
      "HloModule m\n\nENTRY %main (p: f32[4]) -> f32[4] {\n"
      "  ROOT %p = f32[4]{0} parameter(0), sharding={replicated}, metadata={op_name=\"w\"}\n}\n";
  EXPECT_THAT(Compared(left, Replaced(left, "{replicated}", "{devices=[4]<=[4]}")).sentence,
              testing::StartsWith("w: sharding {replicated} against {devices=[4]<=[4]}; "));
  const std::string more = Replaced(
      left, "  ROOT", "  %q = f32[4]{0} parameter(1), metadata={op_name=\"bias\"}\n  ROOT");
  EXPECT_THAT(Compared(left, more).sentence, testing::StartsWith("only the second has bias; "));
  EXPECT_THAT(Compared(more, left).sentence, testing::StartsWith("only the first has bias; "));
}

TEST(HloLayers, AKernelThatDoesSomethingElseIsSaidIfNothingElseDiffers) {
  const std::string left = ReadHloSample("kernels-v5e.txt");
  // Changes a byte of the kernel's code; the instruction that it encodes does not matter.
  const size_t body = left.find("\"body\":\"") + 8;
  std::string right = left;
  right[left.find('"', body) - 40] ^= 1;
  const HloDumpDifference found = Compared(left, right);
  EXPECT_EQ(found.outcome, HloOutcome::kKernelOrItsSource);
  ASSERT_THAT(found.layers, SizeIs(1));
  EXPECT_THAT(found.sentence,
              AllOf(HasSubstr("kernel my_flash_kernel.1"), HasSubstr("train.py:111")));
  const HloDumpDifference both = Compared(left, Replaced(right, "multiply(", "add("));
  EXPECT_EQ(both.outcome, HloOutcome::kDifferent) << "what else differs hides behind no kernel";
  EXPECT_THAT(both.sentence, HasSubstr("multiply"));
}

TEST(HloLayers, TheCheapestEvidenceComesFirst) {
  const std::string after = ReadHloSample("dense-v5e.txt.gz");
  const std::string other = Replaced(after, "convolution(", "dot(");
  const std::string before = ReadHloSample("dense-v5e.before_optimizations.txt.gz");
  const std::string changed =
      Replaced(before, "%p__emb__.1 = f32[1024,256]", "%p__emb__.1 = f32[512,256]");
  const std::string flags = ReadHloSample("dense-v5e.flagfile.gz");
  const std::string flagged = Replaced(flags, "--xla_all_gather_combiner_threshold_count=256",
                                       "--xla_all_gather_combiner_threshold_count=4");
  const HloDump left{.build = "cl_1", .flags = flags, .before = before, .after = {after}};
  HloDump right{.build = "cl_2", .flags = flagged, .before = changed, .after = {other}};

  HloDumpDifference found = CompareHloDumps(left, right, Sides());
  ASSERT_THAT(found.layers, SizeIs(4));
  EXPECT_EQ(found.outcome, HloOutcome::kDifferent);
  EXPECT_THAT(found.sentence,
              HasSubstr("libtpu differs: build cl_1 on the first, build cl_2 on the second"));

  right.build = left.build;
  found = CompareHloDumps(left, right, Sides());
  EXPECT_THAT(found.sentence, HasSubstr("flag xla_all_gather_combiner_threshold_count is 256 on "
                                        "the first and 4 on the second; "));
  EXPECT_EQ(found.layers.front().more_flags, 0);
  // A flag does not explain a program that was written otherwise.
  EXPECT_THAT(found.sentence, HasSubstr("f32[1024,256] against f32[512,256]"));

  right.flags = left.flags;
  found = CompareHloDumps(left, right, Sides());
  EXPECT_EQ(found.layers.front().layer, HloLayer::kBefore);
  EXPECT_THAT(found.sentence, AllOf(HasSubstr("f32[1024,256] against f32[512,256]"),
                                    HasSubstr("before_optimizations"), HasSubstr("p__emb__")));

  right.before = left.before;
  found = CompareHloDumps(left, right, Sides());
  EXPECT_EQ(found.layers.front().layer, HloLayer::kAfter);
  EXPECT_THAT(found.sentence, AllOf(HasSubstr("train.py:"), HasSubstr("convolution(")));

  right.after = left.after;
  found = CompareHloDumps(left, right, Sides());
  EXPECT_THAT(found.layers, IsEmpty());
  EXPECT_EQ(found.outcome, HloOutcome::kEqual);
}

TEST(HloLayers, AFlagThatOneSideLacks) {
  const std::string text =
      "HloModule m\n\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(1)\n}\n";
  HloDump left = DumpOf(text);
  left.flags = "--a=1\n--xla_dump_to=/here\n";
  HloDump right = DumpOf(text);
  right.flags = "--a=1\n--b=2\n--c=3\n--xla_dump_to=/there\n";
  const HloDumpDifference found = CompareHloDumps(left, right, Sides());
  ASSERT_THAT(found.layers, SizeIs(1));
  EXPECT_THAT(found.sentence, HasSubstr("flag b is unset on the first and 2 on the second, and 1 "
                                        "more differ"));
  EXPECT_EQ(found.outcome, HloOutcome::kEqual);
}

TEST(HloLayers, TheBuildStandsInTheNameOfADump) {
  EXPECT_EQ(HloBuildOf("module_0000.jit_step.cl_933746096.after_optimizations.txt"),
            "cl_933746096");
  EXPECT_EQ(HloBuildOf("module_0000.jit_cl_1x.after_optimizations.txt"), "");
  EXPECT_EQ(HloBuildOf("module.cl_.txt"), "");
}

}  // namespace
}  // namespace rapideye::classifier

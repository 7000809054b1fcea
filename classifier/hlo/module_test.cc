#include "classifier/hlo/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rapideye::classifier {
namespace {

using ::testing::ElementsAre;

constexpr char kKernels[] = R"(HloModule jit_step, is_scheduled=true, num_partitions=4

FileNames
1 "train.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%add.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}, execution_thread="sparsecore"

ENTRY %main.2 (p: f32[8]) -> f32[8] {
  %p = f32[8]{0:T(128)} parameter(0), metadata={op_name="p[\'emb\']"}
  %hop.1 = f32[8]{0} custom-call(%p), custom_call_target="tpu_custom_call", frontend_attributes={kernel_metadata={
"mesh_axes":"[\"x\"]"
}}, backend_config={"body":"AB{=("}
  ROOT %psum.7 = f32[8]{0} all-reduce(%hop.1), replica_groups={{0,1}}, to_apply=%add.1
}
)";

std::vector<std::string> NamesIn(const HloModule& module) {
  std::vector<std::string> names;
  for (const HloComputation& computation : module.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      names.emplace_back(instruction.name);
    }
  }
  return names;
}

TEST(HloModule, AttributesRunOverLinesOfWhichOneBeginsWithABrace) {
  const auto module = ParseHloModule(kKernels);
  ASSERT_TRUE(module.has_value());
  EXPECT_TRUE(module->complete);
  EXPECT_EQ(module->name, "jit_step");
  EXPECT_EQ(module->entry, 1);
  EXPECT_THAT(NamesIn(*module), ElementsAre("a", "b", "sum", "p", "hop.1", "psum.7"));
  EXPECT_EQ(module->computations[0].execution_thread, "sparsecore");
  EXPECT_NE(module->tables.find("1 \"train.py\""), std::string_view::npos);
}

TEST(HloModule, WhereverATextIsCutItIsIncomplete) {
  const std::string whole = kKernels;
  // A missing newline at the end of the text loses no line.
  EXPECT_TRUE(ParseHloModule(whole.substr(0, whole.size() - 1))->complete);
  for (size_t size = whole.find('\n'); size + 2 <= whole.size(); ++size) {
    const auto module = ParseHloModule(whole.substr(0, size));
    ASSERT_TRUE(module.has_value());
    EXPECT_FALSE(module->complete) << "cut at " << size;
  }
}

TEST(HloModule, ABracketThatIsNeverClosedCostsItsInstructionAlone) {
  for (const char* broken : {"sharding={devices=[2", "metadata={op_name=\"a", "x=)"}) {
    std::string text = kKernels;
    const std::string op_name = "metadata={op_name=\"p[\\'emb\\']\"}";
    text.replace(text.find(op_name), op_name.size(), broken);
    const auto module = ParseHloModule(text);
    EXPECT_FALSE(module->complete) << broken;
    EXPECT_THAT(NamesIn(*module), ElementsAre("a", "b", "sum", "p", "hop.1", "psum.7")) << broken;
  }
}

TEST(HloModule, ALineThatIsNoInstructionIsSaid) {
  std::string text = kKernels;
  text.insert(text.find("  %b = "), "  what is this\n");
  EXPECT_FALSE(ParseHloModule(text)->complete);
}

TEST(HloModule, TheShortFormIsRead) {
  const auto module = ParseHloModule(
      "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  ROOT b = f32[] negate(a)\n}\n\n"
      "ENTRY main {\n  ROOT p = f32[] parameter(0)\n}\n");
  EXPECT_TRUE(module->complete);
  EXPECT_THAT(NamesIn(*module), ElementsAre("a", "b", "p"));
}

TEST(HloModule, OpenStringsAndBracketsTakeLinearTime) {
  std::string text = "HloModule m\n\nENTRY %main () -> f32[] {\n";
  for (int i = 0; i < 200'000; ++i) {
    absl::StrAppend(&text, "  %a.", i, " = f32[] add({/*", i % 2 == 0 ? "\n" : "\\\n");
  }
  const auto module = ParseHloModule(text);
  EXPECT_FALSE(module->complete);
  EXPECT_EQ(module->computations[0].instructions.size(), 200'000U);
}

}  // namespace
}  // namespace rapideye::classifier

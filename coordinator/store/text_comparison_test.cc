#include "coordinator/store/text_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Gzip(const std::string& text) {
  gzip::Compressor compressor;
  EXPECT_TRUE(compressor.Add(text).ok());
  return compressor.Finish().value_or("");
}

std::string Module(const std::string& opcode) {
  return absl::StrCat("HloModule jit_f\n\nENTRY main.3 {\n  p = f32[8] parameter(0)\n  ROOT r = ",
                      "f32[8] ", opcode, "(p)\n}\n");
}

GatheredText Text(int task, std::string gzip) {
  GatheredText text;
  text.side = {"jit_f", absl::StrCat("aa", task), {{0, task}}};
  text.worker = {0, task};
  text.text = wire::ModuleText{"module_0001.txt", HloMatch::kOnlyDump, std::move(gzip), false};
  return text;
}

ComparedTexts Compare(std::string first, std::string second) {
  return CompareTexts({Text(0, std::move(first)), Text(1, std::move(second))});
}

TEST(CompareTexts, TellsWhereTheyDifferAndKeepsBoth) {
  const ComparedTexts compared = Compare(Gzip(Module("copy")), Gzip(Module("negate")));
  EXPECT_EQ(compared.comparison.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(compared.comparison.position, 2);
  ASSERT_THAT(compared.comparison.sides, SizeIs(2));
  EXPECT_EQ(compared.comparison.sides[0].computation, "main.3");
  EXPECT_EQ(compared.comparison.sides[0].instruction, "r = f32[8] copy(p)");
  EXPECT_EQ(compared.comparison.sides[1].instruction, "r = f32[8] negate(p)");
  EXPECT_EQ(compared.comparison.sides[1].fingerprint, "aa1");
  EXPECT_EQ(compared.comparison.sides[1].match, HloMatch::kOnlyDump);
  ASSERT_THAT(compared.files, SizeIs(2));
  EXPECT_EQ(compared.files[0].name, "hlo-0-0.txt.gz");
  EXPECT_EQ(compared.files[1].bytes, Gzip(Module("negate")));
}

TEST(CompareTexts, OfOneSideIsKeptAndNotCompared) {
  GatheredText none;
  none.side = {"jit_f", "bb", {}};
  none.problem = "no dump";
  const ComparedTexts compared = CompareTexts({Text(0, Gzip(Module("copy"))), none});
  EXPECT_EQ(compared.comparison.outcome, HloOutcome::kNotComparable);
  EXPECT_EQ(compared.comparison.sides[0].problem, std::nullopt);
  EXPECT_EQ(compared.comparison.sides[1].problem, "no dump");
  EXPECT_THAT(compared.files, SizeIs(1));
}

// Of three groups the third is compared with the second, which is that of most workers.
TEST(CompareTexts, OfFurtherGroupsEachIsComparedWithTheSecond) {
  GatheredText none;
  none.side = {"jit_f", "dd", {{0, 3}}};
  none.worker = {0, 3};
  none.problem = "no dump";
  const ComparedTexts compared =
      CompareTexts({Text(0, Gzip(Module("copy"))), Text(1, Gzip(Module("negate"))),
                    Text(2, Gzip(Module("tanh"))), none});
  ASSERT_THAT(compared.more, SizeIs(2));
  EXPECT_EQ(compared.more[0].outcome, HloOutcome::kDifferent);
  EXPECT_EQ(compared.more[0].sides[0].worker, (WorkerId{0, 2}));
  EXPECT_EQ(compared.more[0].sides[0].instruction, "r = f32[8] tanh(p)");
  EXPECT_EQ(compared.more[0].sides[1].worker, (WorkerId{0, 1}));
  EXPECT_EQ(compared.more[0].sides[1].instruction, "r = f32[8] negate(p)");
  EXPECT_EQ(compared.more[1].outcome, HloOutcome::kNotComparable);
  EXPECT_EQ(compared.more[1].sides[0].problem, "no dump");
  EXPECT_THAT(compared.files, SizeIs(3));
}

// A peer's bytes that are no text leave that side without a text, and harm nothing else.
TEST(CompareTexts, LeavesOutWhatIsNoText) {
  const std::string good = Gzip(Module("copy"));
  const std::string bomb = Gzip(std::string(wire::kMaxModuleTextBytes + 1, ' '));
  const std::pair<std::string, const char*> cases[] = {
      {"not gzip at all", "cannot be decompressed"},
      {good.substr(0, good.size() / 2), "cannot be decompressed"},
      {good + "and more", "cannot be decompressed"},
      {bomb, "once decompressed"},
      {Gzip("BufferAssignment:\n"), "no HLO module"},
      {Gzip("HloModule jit_g\n"), "of module jit_g"},
  };
  for (const auto& [bytes, problem] : cases) {
    SCOPED_TRACE(problem);
    const ComparedTexts compared = Compare(bytes, good);
    EXPECT_EQ(compared.comparison.outcome, HloOutcome::kNotComparable);
    EXPECT_THAT(compared.comparison.sides[0].problem.value_or(""), HasSubstr(problem));
    EXPECT_THAT(compared.files, SizeIs(1));
  }
  EXPECT_EQ(Compare(good, good).comparison.outcome, HloOutcome::kEqual);
}

// A program as it was written, with a batch of so many rows.
std::string Written(int rows, const std::string& module = "jit_f") {
  return absl::StrCat("HloModule ", module, "\n\nENTRY main.2 {\n  ROOT Arg_0.1 = bf16[", rows,
                      ",128] parameter(0), metadata={op_name=\"batch\" "
                      "source_file=\"/home/me/train.py\" source_line=106}\n}\n");
}

struct Beside {
  std::string flags;   // as they come: compressed
  std::string before;  // as it comes: compressed
};

HloComparison ComparedBeside(const Beside& first, const Beside& second) {
  std::vector<GatheredText> sides = {Text(0, Gzip(Module("copy"))),
                                     Text(1, Gzip(Module("negate")))};
  sides[0].text->flags_gzip = first.flags;
  sides[0].text->before_gzip = first.before;
  sides[1].text->flags_gzip = second.flags;
  sides[1].text->before_gzip = second.before;
  return CompareTexts(std::move(sides)).comparison;
}

TEST(CompareTexts, NamesTheFlagAndTheLineOfTheProgram) {
  const HloComparison compared =
      ComparedBeside({Gzip("--xla_a=1\n--xla_b=2\n--xla_c=3\n"), Gzip(Written(64))},
                     {Gzip("--xla_a=1\n--xla_b=4\n"), Gzip(Written(32))});
  EXPECT_EQ(compared.outcome, HloOutcome::kDifferent);
  EXPECT_EQ(compared.position, 2);
  ASSERT_THAT(compared.inputs, SizeIs(2));
  EXPECT_EQ(compared.inputs[0].kind, InputKind::kFlag);
  EXPECT_EQ(compared.inputs[0].name, "xla_b");
  EXPECT_EQ(compared.inputs[0].more, 1);
  EXPECT_THAT(compared.inputs[0].values, ElementsAre("2", "4"));
  EXPECT_EQ(compared.inputs[1].kind, InputKind::kProgram);
  EXPECT_EQ(compared.inputs[1].name, "train.py:106");
  EXPECT_THAT(compared.inputs[1].values, ElementsAre("batch: bf16[64,128]", "batch: bf16[32,128]"));
}

TEST(CompareTexts, NamesWhatOnlyOneProgramHas) {
  const std::string written = Written(64);
  const std::string printing =
      absl::StrReplaceAll(written, {{"}\n}",
                                     "}\n  print.1 = token[] custom-call(Arg_0.1), "
                                     "metadata={op_name=\"debug_print\" "
                                     "source_file=\"/home/me/train.py\" source_line=9}\n}"}});
  const HloComparison compared = ComparedBeside({"", Gzip(written)}, {"", Gzip(printing)});
  ASSERT_THAT(compared.inputs, SizeIs(1));
  EXPECT_EQ(compared.inputs[0].name, "train.py:9");
  EXPECT_THAT(compared.inputs[0].values, ElementsAre("", "debug_print"));
}

// Agents of 0.1 send the text alone; what is broken or of another program is left out.
TEST(CompareTexts, WithoutTheFilesBesideComparesTheTextsAlone) {
  const Beside good{Gzip("--xla_a=1\n"), Gzip(Written(64))};
  EXPECT_THAT(ComparedBeside(good, good).inputs, IsEmpty());
  const Beside cases[] = {
      {},
      {"no gzip", "no gzip"},
      {"", Gzip(std::string(wire::kMaxModuleTextBytes + 1, ' '))},
      {"", Gzip(Written(32, "jit_g"))},
      {"", Gzip("BufferAssignment:\n")},
  };
  for (const Beside& other : cases) {
    const HloComparison compared = ComparedBeside(good, other);
    EXPECT_EQ(compared.outcome, HloOutcome::kDifferent);
    EXPECT_EQ(compared.position, 2);
    EXPECT_THAT(compared.inputs, IsEmpty());
  }
}

TEST(CompareTexts, OfTwoModulesLeavesOutTheProgramsAsWritten) {
  std::vector<GatheredText> sides = {Text(0, Gzip("HloModule jit_f\n")),
                                     Text(1, Gzip("HloModule jit_g\n"))};
  sides[1].side.module = "jit_g";
  sides[0].text->before_gzip = Gzip(Written(64));
  sides[1].text->before_gzip = Gzip(Written(32, "jit_g"));
  sides[0].text->flags_gzip = Gzip("--xla_a=1\n");
  sides[1].text->flags_gzip = Gzip("--xla_a=2\n");
  const HloComparison compared = CompareTexts(std::move(sides)).comparison;
  ASSERT_THAT(compared.inputs, SizeIs(1));
  EXPECT_EQ(compared.inputs[0].kind, InputKind::kFlag);
}

TEST(CompareTexts, BoundsWhatGoesIntoTheCapture) {
  const std::string value(100'000, 'v');
  const HloComparison compared =
      ComparedBeside({Gzip(absl::StrCat("--", value, "=", value)), ""}, {Gzip("--xla_a=2\n"), ""});
  ASSERT_THAT(compared.inputs, SizeIs(1));
  EXPECT_LT(compared.inputs[0].name->size(), 1000U);
  for (const std::string& one : compared.inputs[0].values) EXPECT_LT(one.size(), 1000U);
}

TEST(Decompress, TakesTheLargestThatIsAllowed) {
  const auto text = Decompress(Gzip(std::string(wire::kMaxModuleTextBytes, ' ')));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, SizeIs(wire::kMaxModuleTextBytes));
}

}  // namespace
}  // namespace rapideye::coordinator

#include "coordinator/store/text_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
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

TEST(Decompress, TakesTheLargestThatIsAllowed) {
  const auto text = Decompress(Gzip(std::string(wire::kMaxModuleTextBytes, ' ')));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, SizeIs(wire::kMaxModuleTextBytes));
}

}  // namespace
}  // namespace rapideye::coordinator

#include "classifier/logs/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Gathers the lines that the splitter passes on.
struct Lines {
  mutable std::vector<std::string> lines;
  void operator()(absl::string_view line) const { lines.emplace_back(line); }
};

TEST(LineSplitterTest, JoinsWhatCameInPieces) {
  LineSplitter splitter;
  Lines sink;
  for (const char* piece : {"a", "b\nc", "\n\n", "d"}) splitter.Add(piece, sink);
  EXPECT_THAT(sink.lines, ElementsAre("ab", "c"));
  splitter.Finish(sink);
  EXPECT_THAT(sink.lines, ElementsAre("ab", "c", "d"));
}

TEST(LineSplitterTest, ALineWithoutEndCountsOnceItIsQuiet) {
  LineSplitter splitter;
  Lines sink;
  splitter.Add("last words", sink);
  for (int i = 1; i < kLogQuietLooks; ++i) splitter.Quiet(sink);
  EXPECT_THAT(sink.lines, IsEmpty());
  splitter.Add("!", sink);
  for (int i = 0; i < kLogQuietLooks; ++i) splitter.Quiet(sink);
  EXPECT_THAT(sink.lines, ElementsAre("last words!"));
}

TEST(LineSplitterTest, LongLinesAreCutAndTheNextIsWhole) {
  LineSplitter splitter;
  Lines sink;
  for (int i = 0; i < 10; ++i) splitter.Add(std::string(kMaxLogLineBytes / 3, 'x'), sink);
  splitter.Add("y\nnext\n", sink);
  ASSERT_THAT(sink.lines, SizeIs(2));
  EXPECT_EQ(sink.lines[0], std::string(kMaxLogLineBytes, 'x'));
  EXPECT_EQ(sink.lines[1], "next");
}

TEST(LineSplitterTest, AProgressBarIsManyLines) {
  LineSplitter splitter;
  Lines sink;
  splitter.Add("\rstep 1\rstep", sink);
  splitter.Add(" 2\rstep 3", sink);
  splitter.Add("\r", sink);
  splitter.Add("\nCore halted\r\n", sink);
  EXPECT_THAT(sink.lines, ElementsAre("step 1", "step 2", "step 3", "Core halted"));
}

TEST(LineSplitterTest, CountsLinesByNewlines) {
  LineSplitter splitter;
  std::vector<int64_t> numbers;
  const auto sink = [&](absl::string_view) { numbers.push_back(splitter.number()); };
  splitter.Add("a\n\nb\rc\nd\r\ne", sink);
  splitter.Finish(sink);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 3, 4, 5));
}

TEST(LineSplitterTest, ALineOf100MegabytesCostsWhatItMayHold) {
  LineSplitter splitter;
  Lines sink;
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) splitter.Add(piece, sink);
  splitter.Add("\nCore halted unexpectedly\n", sink);
  ASSERT_THAT(sink.lines, SizeIs(2));
  EXPECT_EQ(sink.lines[0].size(), kMaxLogLineBytes);
  EXPECT_EQ(sink.lines[1], "Core halted unexpectedly");
}

TEST(LineSplitterTest, BinaryJunkIsALineLikeAnyOther) {
  LineSplitter splitter;
  Lines sink;
  const std::string junk("\0\xff\xfe\x1b[0m\0", 8);
  splitter.Add(junk + "\n" + junk + "\n", sink);
  EXPECT_THAT(sink.lines, ElementsAre(junk, junk));
}

TEST(LineSplitterTest, SkipsTheRestOfALine) {
  LineSplitter splitter;
  Lines sink;
  splitter.Add("lost", sink);
  splitter.SkipLine();
  splitter.Add(" as well", sink);
  splitter.Add(" and this\nkept\n", sink);
  EXPECT_THAT(sink.lines, ElementsAre("kept"));
}

}  // namespace
}  // namespace rapideye::logs

#include "agent/sources/log/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LineSplitterTest, JoinsWhatCameInPieces) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  for (const char* piece : {"a", "b\nc", "\n\n", "d"}) splitter.Add(piece, lines);
  EXPECT_THAT(lines, ElementsAre("ab", "c"));
  splitter.Finish(lines);
  EXPECT_THAT(lines, ElementsAre("ab", "c", "d"));
}

TEST(LineSplitterTest, ALineWithoutEndCountsOnceItIsQuiet) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  splitter.Add("last words", lines);
  for (int i = 1; i < kLogQuietLooks; ++i) splitter.Quiet(lines);
  EXPECT_THAT(lines, IsEmpty());
  splitter.Add("!", lines);
  for (int i = 0; i < kLogQuietLooks; ++i) splitter.Quiet(lines);
  EXPECT_THAT(lines, ElementsAre("last words!"));
}

TEST(LineSplitterTest, LongLinesAreCutAndTheNextIsWhole) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) splitter.Add(std::string(kMaxLogLineBytes / 3, 'x'), lines);
  splitter.Add("y\nnext\n", lines);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0], std::string(kMaxLogLineBytes, 'x'));
  EXPECT_EQ(lines[1], "next");
}

TEST(LineSplitterTest, SkipsTheRestOfALine) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  splitter.Add("lost", lines);
  splitter.SkipLine();
  splitter.Add(" as well", lines);
  splitter.Add(" and this\nkept\n", lines);
  EXPECT_THAT(lines, ElementsAre("kept"));
}

}  // namespace
}  // namespace rapideye::agent

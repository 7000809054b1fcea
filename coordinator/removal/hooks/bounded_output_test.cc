#include "coordinator/removal/hooks/bounded_output.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::coordinator {
namespace {

TEST(BoundedOutput, KeepsEverythingThatFits) {
  BoundedOutput output(8);
  output.Append("abc");
  output.Append("");
  output.Append("defgh");
  EXPECT_EQ(output.Text(), "abcdefgh");
}

TEST(BoundedOutput, KeepsBeginningAndEndOfMore) {
  BoundedOutput output(8);
  output.Append("abcdefghi");
  EXPECT_EQ(output.Text(), "abcd\n[1 bytes left out]\nfghi");
}

TEST(BoundedOutput, InWhateverPiecesItComes) {
  std::string everything;
  BoundedOutput whole(64);
  BoundedOutput bytes(64);
  for (int i = 0; i < 1000; ++i) everything += std::to_string(i) + " ";
  whole.Append(everything);
  for (const char c : everything) bytes.Append({&c, 1});
  EXPECT_EQ(whole.Text(), bytes.Text());
  EXPECT_TRUE(whole.Text().ends_with("998 999 ")) << whole.Text();
}

TEST(BoundedOutput, BytesThatAreNoTextBecomeText) {
  BoundedOutput output(8);
  output.Append("a\xff");
  EXPECT_EQ(output.Text(), "a\xef\xbf\xbd");
  BoundedOutput split(8);  // its third and fourth byte on either side of the middle
  split.Append(
      "ab\xc3\xa9"
      "cd");
  EXPECT_EQ(split.Text(),
            "ab\xc3\xa9"
            "cd");
}

}  // namespace
}  // namespace rapideye::coordinator

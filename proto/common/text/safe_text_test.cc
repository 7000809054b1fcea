#include "proto/common/text/safe_text.h"

#include <gtest/gtest.h>

namespace rapideye::text {
namespace {

TEST(SafeTextTest, KeepsWhatIsFine) {
  EXPECT_EQ(ValidUtf8("größer – 模型 😀", 100), "größer – 模型 😀");
  EXPECT_EQ(EscapeText("größer – 模型 😀", 100), "größer – 模型 😀");
  EXPECT_EQ(EscapeName("tpu-job-0-1.example.com"), "tpu-job-0-1.example.com");
}

TEST(SafeTextTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ValidUtf8("a\xFF"
                      "b",
                      100),
            "a\uFFFD"
            "b");
  EXPECT_EQ(ValidUtf8("cut \xE2\x82", 100), "cut \uFFFD\uFFFD");
  EXPECT_EQ(ValidUtf8("\xC0\xAF", 100), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80", 100), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80", 100), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(SafeTextTest, EscapesWhatEndsOrRewritesALine) {
  EXPECT_EQ(EscapeText("a\nb\r\tc\x1b[2Jd\x7f", 100), "a\\nb\\r\\tc\\x1b[2Jd\\x7f");
  EXPECT_EQ(EscapeText("a\u0085b\u2028c\u202Ed\u200Be", 100), "a\\x85b\\u2028c\\u202ed\\u200be");
  EXPECT_EQ(EscapeText(std::string("a\0b", 3), 100), "a\\x00b");
  EXPECT_EQ(EscapeText("no\\n", 100), "no\\\\n");
}

TEST(SafeTextTest, ANameCannotPoseAsTwo) {
  EXPECT_EQ(EscapeName("bad, good host"), "bad\\x2c\\x20good\\x20host");
  EXPECT_EQ(EscapeName(""), "?");
  EXPECT_LE(EscapeName(std::string(100'000, 'x')).size(), kMaxNameBytes);
}

TEST(SafeTextTest, CutsAtACharacter) {
  EXPECT_EQ(ValidUtf8("12345678", 8), "12345678");
  EXPECT_EQ(ValidUtf8("123456789", 8), "12345…");
  EXPECT_EQ(ValidUtf8("1234äääääää", 8), "1234…");
  EXPECT_EQ(EscapeText("\n\n\n\n\n", 8), "\\n\\n…");
  EXPECT_EQ(CutText("1234äääääää", 8), "1234…");
  EXPECT_EQ(CutText("12345678", 8), "12345678");
}

TEST(SafeTextTest, JoinsAsFarAsThereIsRoom) {
  EXPECT_EQ(JoinBounded({}, 100), "");
  EXPECT_EQ(JoinBounded({{"a"}, {"b"}}, 100), "a, b");
  std::vector<ListItem> many(1000, ListItem{"host-1", 1});
  const std::string joined = JoinBounded(many, 100);
  EXPECT_LE(joined.size(), 100u);
  EXPECT_EQ(joined, "host-1, host-1, host-1, host-1, host-1, host-1, … and 994 more");
}

TEST(SafeTextTest, HtmlHoldsNoMarkup) {
  EXPECT_EQ(EscapeHtml("<b a=\"x\" c='y'>R&D</b>\n", 100),
            "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;R&amp;D&lt;/b&gt;\\n");
  EXPECT_EQ(EscapeHtml("plain", 100), "plain");
}

TEST(SafeTextTest, CountsWhatALeftOutEntryStandsFor) {
  const std::string wide(90, 'x');
  EXPECT_EQ(JoinBounded({{"a"}, {wide, 64}, {"b"}}, 100), "a, … and 65 more");
}

}  // namespace
}  // namespace rapideye::text

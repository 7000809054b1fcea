#include "proto/common/text/utf8.h"

#include <gtest/gtest.h>

namespace rapideye::text {
namespace {

std::string Encoded(uint32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

bool IsCharacter(uint32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

// Every number that four bytes can hold, surrogates and what is beyond Unicode among them.
TEST(TakeCharacterTest, TakesEveryCharacterAndNothingElse) {
  for (uint32_t c = 0; c < 0x200000; ++c) {
    const std::string bytes = Encoded(c) + "x";
    std::string_view text = bytes;
    const std::optional<uint32_t> taken = TakeCharacter(text);
    if (IsCharacter(c)) {
      ASSERT_EQ(taken, c);
      ASSERT_EQ(text, "x");
    } else {
      ASSERT_EQ(taken, std::nullopt) << c;
      ASSERT_EQ(text.size(), bytes.size() - 1) << c;
    }
  }
}

TEST(TakeCharacterTest, RefusesWhatIsOverlongOrCut) {
  for (const std::string bytes :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF8\x88\x80",
        "\xFE", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xE2x", "\xC3\xC3", "\xF0\x9F\x98x"}) {
    std::string_view text = bytes;
    EXPECT_EQ(TakeCharacter(text), std::nullopt);
    EXPECT_EQ(text, std::string_view(bytes).substr(1));
  }
}

TEST(CutToUtf8Test, ReplacesEachBadByte) {
  EXPECT_EQ(CutToUtf8("größer – 模型 😀", 100), "größer – 模型 😀");
  EXPECT_EQ(CutToUtf8("a\xF0\x9F\x98z", 100), "a\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(CutToUtf8(std::string("a\0b", 3), 100), std::string("a\0b", 3));
  EXPECT_EQ(CutToUtf8("", 100), "");
}

TEST(CutToUtf8Test, CutsAtACharacter) {
  EXPECT_EQ(CutToUtf8("aä", 3), "aä");
  EXPECT_EQ(CutToUtf8("aä", 2), "a");
  EXPECT_EQ(CutToUtf8("a😀b", 4), "a");  // no shorter one that comes later
  EXPECT_EQ(CutToUtf8("a\xFF", 3), "a");
  EXPECT_EQ(CutToUtf8("abc", 0), "");
}

}  // namespace
}  // namespace rapideye::text

#include "proto/common/text/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::text {
namespace {

TEST(MatchesPattern, StarsAndQuestionMarksStandForOthers) {
  EXPECT_TRUE(MatchesPattern("", ""));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_TRUE(MatchesPattern("host-3", "host-3"));
  EXPECT_TRUE(MatchesPattern("host-3", "host-?"));
  EXPECT_TRUE(MatchesPattern("host-3", "h*t-*"));
  EXPECT_TRUE(MatchesPattern("aab", "*a*b*"));
  EXPECT_FALSE(MatchesPattern("host-3", "host"));
  EXPECT_FALSE(MatchesPattern("host", "host-?"));
  EXPECT_FALSE(MatchesPattern("host-3", "*4"));
  EXPECT_FALSE(MatchesPattern("x", ""));
}

TEST(MatchesPattern, EverythingElseStandsForItself) {
  EXPECT_FALSE(MatchesPattern("host-3", "host-[0-9]"));
  EXPECT_TRUE(MatchesPattern("host-[0-9]", "host-[0-9]"));
  EXPECT_FALSE(MatchesPattern("a", "\\a"));
  const std::string with_nul("agent\0.evil.example", 19);
  EXPECT_FALSE(MatchesPattern(with_nul, "agent"));
}

TEST(MatchesPattern, LettersMayCountInAnyCase) {
  EXPECT_FALSE(MatchesPattern("Host", "host"));
  EXPECT_TRUE(MatchesPattern("Host", "hOS?", LetterCase::kIgnored));
}

TEST(MatchesPattern, ManyStarsTakeNoLonger) {
  const std::string text(2'000, 'a');
  EXPECT_FALSE(MatchesPattern(text, std::string(200, '*') + "a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace rapideye::text

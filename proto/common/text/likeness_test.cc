#include "proto/common/text/likeness.h"

#include <gtest/gtest.h>

namespace rapideye::text {
namespace {

TEST(LikenessTest, CountsInsertedDroppedReplacedAndSwappedBytes) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("status", "status"), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("statsu", "status"), 1u);
  EXPECT_EQ(EditDistance("satus", "status"), 1u);
  EXPECT_EQ(EditDistance("stetus", "status"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(LikenessTest, LongTextsCostLittle) {
  EXPECT_EQ(EditDistance(std::string(100'000, 'a'), std::string(100'000, 'b')), 128u);
}

TEST(LikenessTest, SuggestsWhatIsNearAndNothingElse) {
  const std::vector<std::string> known = {"status", "show", "snapshot"};
  EXPECT_EQ(ProbablyMeant("statsu", known), "status");
  EXPECT_EQ(ProbablyMeant("shwo", known), "show");
  EXPECT_EQ(ProbablyMeant("frobnicate", known), "");
  EXPECT_EQ(ProbablyMeant("x", {}), "");
}

}  // namespace
}  // namespace rapideye::text

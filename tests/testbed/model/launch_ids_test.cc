#include "tests/testbed/model/launch_ids.h"

#include <gtest/gtest.h>

#include <limits>

namespace rapideye::testbed {
namespace {

Fingerprint Numbered(uint8_t n) { return Fingerprint{n}; }

TEST(LaunchIds, CountPerProgramFromTheirOwnStart) {
  LaunchIds ids(7);
  const int32_t a = ids.Next(Numbered(1));
  const int32_t b = ids.Next(Numbered(2));
  EXPECT_EQ(a, LaunchIds::Start(7, Numbered(1)));
  EXPECT_NE(a, b);
  EXPECT_EQ(ids.Next(Numbered(1)), a + 1);
  EXPECT_EQ(ids.Next(Numbered(2)), b + 1);
}

TEST(LaunchIds, AreTheSameForAllWithOneSeed) {
  LaunchIds one(7);
  LaunchIds other(7);
  other.Next(Numbered(2));  // another program's counter is its own
  EXPECT_EQ(one.Next(Numbered(1)), other.Next(Numbered(1)));
  EXPECT_NE(LaunchIds::Start(7, Numbered(1)), LaunchIds::Start(8, Numbered(1)));
}

TEST(LaunchIds, SomeStartsAreNegative) {
  int negative = 0;
  for (uint8_t n = 0; n < 100; ++n) negative += LaunchIds::Start(1, Numbered(n)) < 0 ? 1 : 0;
  EXPECT_GT(negative, 20);
  EXPECT_LT(negative, 80);
}

TEST(LaunchIds, Wrap) {
  LaunchIds ids(7,
                [](uint64_t, const Fingerprint&) { return std::numeric_limits<int32_t>::max(); });
  EXPECT_EQ(ids.Next(Numbered(1)), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(ids.Next(Numbered(1)), std::numeric_limits<int32_t>::min());
}

}  // namespace
}  // namespace rapideye::testbed

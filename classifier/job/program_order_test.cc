#include "classifier/job/program_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace rapideye::classifier {
namespace {

TEST(SerialDistance, CountsAcrossTheWrap) {
  EXPECT_EQ(SerialDistance(5, 3), 2);
  EXPECT_EQ(SerialDistance(3, 5), -2);
  EXPECT_EQ(SerialDistance(INT32_MIN, INT32_MAX), 1);
  EXPECT_EQ(SerialDistance(INT32_MAX, INT32_MIN), -1);
}

TEST(ProgramOrder, OrdersStepsThenPrograms) {
  const ProgramOrder order({{0, 100}, {1, -7}});
  EXPECT_EQ(order.Ordinal({0, 100}), 0);
  EXPECT_EQ(order.Ordinal({1, -7}), 1);
  EXPECT_EQ(order.Ordinal({0, 101}), 2);
  EXPECT_EQ(order.Ordinal({1, -8}), -1);
  EXPECT_FALSE(order.Ordinal({2, 100}).has_value());
  EXPECT_FALSE(order.Ordinal({0, {}}).has_value());
}

TEST(ProgramOrder, AProgramThatRunsTwiceInAStep) {
  const ProgramOrder order({{0, 10}, {0, 11}, {1, 50}});
  EXPECT_EQ(order.Ordinal({0, 12}), 3);
  EXPECT_EQ(order.Ordinal({0, 13}), 4);
  EXPECT_EQ(order.Ordinal({1, 51}), 5);
  EXPECT_EQ(order.Ordinal({0, 9}), -2);
}

TEST(LearnProgramOrder, ClosesTheCircle) {
  const ProgramOrder order = LearnProgramOrder({{{0, 10}, {1, 5}}, {{1, 5}, {0, 11}}});
  EXPECT_TRUE(order.complete());
  EXPECT_LT(*order.Ordinal({0, 10}), *order.Ordinal({1, 5}));
  EXPECT_LT(*order.Ordinal({1, 5}), *order.Ordinal({0, 11}));
}

TEST(LearnProgramOrder, FindsTheCircleBehindAProgramThatLeadsIntoIt) {
  const std::vector<Launch> odd = {{7, 1}, {0, 11}, {1, 6}};
  const ProgramOrder order =
      LearnProgramOrder({odd, odd, odd, {{0, 10}, {1, 5}}, {{1, 5}, {0, 11}}});
  EXPECT_TRUE(order.complete());
  EXPECT_FALSE(order.Holds(7));
  // A program that a few workers repeat is not the step of the others.
  const ProgramOrder repeated =
      LearnProgramOrder({{{7, 1}, {7, 2}}, {{0, 10}, {1, 5}}, {{0, 10}, {1, 5}}});
  EXPECT_FALSE(repeated.complete());
  EXPECT_TRUE(repeated.Holds(0));
}

TEST(LearnProgramOrder, AnOpenChainStillOrders) {
  const ProgramOrder order = LearnProgramOrder({{{0, 10}, {1, 5}}});
  EXPECT_FALSE(order.complete());
  EXPECT_LT(*order.Ordinal({1, 4}), *order.Ordinal({0, 10}));
}

TEST(LearnProgramOrder, ContradictionsTeachNothing) {
  EXPECT_TRUE(LearnProgramOrder({{{0, 10}, {1, 5}}, {{0, 10}, {2, 5}}}).empty());
  EXPECT_TRUE(LearnProgramOrder({}).empty());
}

}  // namespace
}  // namespace rapideye::classifier

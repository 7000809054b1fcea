#include "tests/testbed/model/reduction.h"

#include <gtest/gtest.h>

namespace rapideye::testbed {
namespace {

const JobShape kShape = {2, 3, 4, {"v6e", 1, 2}};

TEST(Reduction, SliceSumIsTheSumOfItsWorkers) {
  Vector sum(kVectorLength);
  for (int task = 0; task < 3; ++task) Add(WorkerSum(kShape, {1, task}, -5, 2), sum);
  EXPECT_EQ(sum, SliceSum(kShape, 1, -5, 2));
}

TEST(Reduction, WhatCameFromElsewhereShows) {
  const Vector right = Contribution(kShape, {1, 2}, 3, -5, 2);
  EXPECT_EQ(right, Contribution(kShape, {1, 2}, 3, -5, 2));
  EXPECT_NE(right, Contribution(kShape, {0, 2}, 3, -5, 2));
  EXPECT_NE(right, Contribution(kShape, {1, 1}, 3, -5, 2));
  EXPECT_NE(right, Contribution(kShape, {1, 2}, 2, -5, 2));
  EXPECT_NE(right, Contribution(kShape, {1, 2}, 3, -4, 2));
  EXPECT_NE(right, Contribution(kShape, {1, 2}, 3, -5, 1));
}

}  // namespace
}  // namespace rapideye::testbed

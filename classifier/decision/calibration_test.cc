#include "classifier/decision/calibration.h"

#include <gtest/gtest.h>

#include <limits>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

TEST(StatedConfidence, MoreEvidenceNeverStatesLess) {
  double before = StatedConfidence(0);
  for (int i = 1; i <= 97; ++i) {
    const double stated = StatedConfidence(i / 100.0);
    EXPECT_GT(stated, before) << i;
    before = stated;
  }
}

TEST(StatedConfidence, PassesThroughWhatWasMeasured) {
  for (const CalibrationPoint& point : kCalibration) {
    EXPECT_DOUBLE_EQ(StatedConfidence(point.certainty), point.stated);
  }
}

TEST(StatedConfidence, NothingIsCertain) {
  EXPECT_LE(StatedConfidence(1), kMostStated);
  EXPECT_LE(StatedConfidence(std::numeric_limits<double>::infinity()), kMostStated);
}

TEST(StatedConfidence, WhatIsNoShareStatesNothing) {
  EXPECT_EQ(StatedConfidence(-0.1), 0);
  EXPECT_EQ(StatedConfidence(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace rapideye::classifier

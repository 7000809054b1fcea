#include "classifier/decision/calibration.h"

#include <cstddef>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {

double StatedConfidence(double certainty) {
  if (!(certainty > 0)) return 0;  // also NaN
  for (size_t i = 1; i < kCalibration.size(); ++i) {
    const CalibrationPoint& low = kCalibration[i - 1];
    const CalibrationPoint& high = kCalibration[i];
    if (certainty > high.certainty) continue;
    const double share = (certainty - low.certainty) / (high.certainty - low.certainty);
    return low.stated + share * (high.stated - low.stated);
  }
  return kMostStated;
}

}  // namespace rapideye::classifier

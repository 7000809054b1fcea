// From how sure a rule is to how often that proves right.
#ifndef RAPIDEYE_CLASSIFIER_CALIBRATION_H_
#define RAPIDEYE_CLASSIFIER_CALIBRATION_H_

namespace rapideye::classifier {

// The confidence to state for a finding of this certainty: 0 .. kMostStated, never
// falling as the certainty grows. Total: what is no number, or below 0, states 0.
double StatedConfidence(double certainty);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_CALIBRATION_H_

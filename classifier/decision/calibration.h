// StatedConfidence maps the certainty of a rule to the measured share of right verdicts.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_CALIBRATION_H_
#define RAPIDEYE_CLASSIFIER_DECISION_CALIBRATION_H_

namespace rapideye::classifier {

// The confidence to state for a finding of this certainty: 0 .. kMostStated, never
// falling as the certainty grows. Total: NaN and values below 0 state 0.
double StatedConfidence(double certainty);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_CALIBRATION_H_

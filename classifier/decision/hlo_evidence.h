// Adds the comparison of two HLO modules to a verdict of diverged programs.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_HLO_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_DECISION_HLO_EVIDENCE_H_

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Adds a sentence of evidence and the next step, if `verdict` is about programs that
// diverged and the capture holds a comparison. Neither cause nor confidence changes:
// where two programs differ says nothing about whether they do.
void AddHloComparison(const Capture& capture, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_HLO_EVIDENCE_H_

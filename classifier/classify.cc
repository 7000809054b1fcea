#include "classifier/classify.h"

#include <utility>

#include "classifier/decide.h"
#include "classifier/finding.h"
#include "classifier/hlo_evidence.h"
#include "classifier/rules/rules.h"
#include "classifier/stacks.h"

namespace rapideye {

Verdict Classify(const Capture& capture) {
  const classifier::Case c(capture);
  classifier::Findings findings;
  classifier::FindStartUp(c, findings);
  classifier::FindProgress(c, findings);
  classifier::FindEnded(c, findings);
  classifier::FindUnrecoverable(c, findings);
  classifier::FindLostWorker(c, findings);
  classifier::FindBarrier(c, findings);
  classifier::FindTimedOut(c, findings);
  classifier::FindBadChip(c, findings);
  classifier::FindNetworking(c, findings);
  classifier::FindIci(c, findings);
  classifier::FindDifferentModule(c, findings);
  classifier::FindFingerprintMismatch(c, findings);
  classifier::FindDataStall(c, findings);
  classifier::FindHostPlace(c, findings);
  Verdict verdict = classifier::Decide(c, std::move(findings));
  classifier::AddHloComparison(capture.header, verdict);
  classifier::AddHostEvidence(capture, verdict);
  return verdict;
}

}  // namespace rapideye

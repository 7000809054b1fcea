// One module, compiled to different programs on different workers of a cohort:
// the same name with more than one fingerprint. A bug in tracing or compiling.
// Launch ids are counters of each program and need not be equal.
//
// Facts: module names and fingerprints of the status service.
#include "classifier/rules/rules.h"
#include "classifier/sides.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {

void FindFingerprintMismatch(const Case& c, Findings& out) {
  for (const Sides& sides : DivergedSides(c)) {
    if (!sides.same_module) continue;
    Finding finding;
    finding.basis = Basis::kDivergence;
    finding.cause = Cause::kFingerprintMismatch;
    finding.confidence = sides.named ? kConfidenceFingerprint : kConfidenceFingerprintUnnamed;
    DescribeSides(c, sides, finding);
    finding.explains = c.graph.waiting;
    out.Add("fingerprint_mismatch", std::move(finding));
  }
}

}  // namespace rapideye::classifier

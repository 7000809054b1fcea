// A runtime does not answer, its training process is stuck in the kernel, and all others wait for
// cores of that worker: the host is at fault, by its driver or by what it waits for in the kernel.
//
// Where the cores of a silent runtime were last seen is the past, so no chip is named. A process
// that waits for its own storage or source of data is seen to do so by its stack or page, and other
// rules name it; one that is stopped or frozen likewise.
//
// Facts: the state of the status service, the process's state as the kernel reports it.
#include <utility>

#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {}  // namespace

void FindSilentRuntime(const Case& c, Findings& out) {
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = Detail::kOther;
  finding.confidence = kConfidenceStuckInKernel;
  for (const Head& head : c.graph.heads) {
    // A wait for another slice leads to that slice.
    if (head.kind == HeadKind::kCrossWait || !IsStuckInKernel(c, head.worker)) continue;
    const WorkerId& id = c.worker(head.worker).id;
    if (!finding.culprits.empty() && finding.culprits.back().worker == id) continue;
    Accuse(c, Strength::kStrong, StuckInKernel{head.worker}, finding);
  }
  if (finding.culprits.empty()) return;
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

}  // namespace rapideye::classifier

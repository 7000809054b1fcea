// Classify maps evidence to a verdict. Total and pure.
#ifndef RAPIDEYE_CLASSIFIER_CLASSIFY_H_
#define RAPIDEYE_CLASSIFIER_CLASSIFY_H_

#include "classifier/verdict/log_evidence.h"
#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye {

// Decides which fault stopped the job. Never fails: evidence that settles nothing
// yields Cause::kUnknown with the missing evidence. The order of snapshots, cores and
// program tables does not change the result. Requires the invariants stated at
// Capture (proto/wire establishes them). Thread-safe; uses no clock, no
// randomness and no global state, and takes time roughly linear in the number
// of cores.
Verdict Classify(const Capture& capture);

// The same for a job with logs as its only evidence: `capture` holds the recognised lines,
// `logs` the other facts in the logs.
Verdict ClassifyLogs(const Capture& capture, const LogEvidence& logs);

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_CLASSIFY_H_

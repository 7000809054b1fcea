#include "classifier/classify.h"

#include <utility>

#include "classifier/decision/decide.h"
#include "classifier/decision/hlo_evidence.h"
#include "classifier/decision/lacking.h"
#include "classifier/decision/runtime_verdict.h"
#include "classifier/findings/finding.h"
#include "classifier/findings/settings.h"
#include "classifier/host/foreign_holders.h"
#include "classifier/host/stacks.h"
#include "classifier/rules/rules.h"

namespace rapideye {

namespace {

Verdict ClassifyCase(const classifier::Case& c) {
  classifier::Findings findings;
  classifier::FindStartUp(c, findings);
  classifier::FindProgress(c, findings);
  classifier::FindEnded(c, findings);
  classifier::FindUnrecoverable(c, findings);
  classifier::FindSilentRuntime(c, findings);
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
  classifier::FindInLogs(c, findings);
  Verdict verdict = classifier::Decide(c, std::move(findings));
  classifier::AddHloComparison(c.capture, verdict);
  classifier::AddRuntimeVerdict(c.topology, verdict);
  classifier::AddHostEvidence(c.capture, verdict);
  classifier::AddSettingEvidence(c, verdict);
  verdict.holders = classifier::FindForeignHolders(c.topology);
  return verdict;
}

}  // namespace

Verdict Classify(const Capture& capture) { return ClassifyCase(classifier::Case(capture)); }

Verdict ClassifyLogs(const Capture& capture, const LogEvidence& logs) {
  const classifier::Case c(capture, &logs);
  Verdict verdict = ClassifyCase(c);
  classifier::AddLogEvidence(c, verdict);
  verdict.lacking = classifier::WhatLogsLack(c, verdict);
  return verdict;
}

}  // namespace rapideye

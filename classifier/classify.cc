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

struct Rule {
  const char* name;
  void (*find)(const classifier::Case& c, classifier::Findings& out);
};

constexpr Rule kRules[] = {
    {"start_up", classifier::FindStartUp},
    {"progress", classifier::FindProgress},
    {"ended", classifier::FindEnded},
    {"unrecoverable", classifier::FindUnrecoverable},
    {"silent_runtime", classifier::FindSilentRuntime},
    {"lost_worker", classifier::FindLostWorker},
    {"barrier", classifier::FindBarrier},
    {"timed_out", classifier::FindTimedOut},
    {"bad_chip", classifier::FindBadChip},
    {"networking", classifier::FindNetworking},
    {"ici", classifier::FindIci},
    {"different_module", classifier::FindDifferentModule},
    {"fingerprint_mismatch", classifier::FindFingerprintMismatch},
    {"data_stall", classifier::FindDataStall},
    {"host_place", classifier::FindHostPlace},
    {"collective_numbers", classifier::FindCollectiveNumbers},
    {"job_logs", classifier::FindInLogs},
};

Verdict ClassifyCase(const classifier::Case& c) {
  classifier::Findings findings;
  for (const Rule& rule : kRules) {
    findings.rule = rule.name;
    rule.find(c, findings);
  }
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

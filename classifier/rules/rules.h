// Declares one function per cause, each in a file of its own. A rule reads the case and adds its
// findings with their certainty and evidence; no rule knows another, and none decides which finding
// is the cause.
#ifndef RAPIDEYE_CLASSIFIER_RULES_RULES_H_
#define RAPIDEYE_CLASSIFIER_RULES_RULES_H_

#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/finding.h"
#include "classifier/findings/rejections.h"

namespace rapideye::classifier {

// Collects the findings of all rules, and the reasons where a rule found none.
struct Findings {
  std::vector<Finding> items;
  std::vector<Reason> reasons;
  std::string rule;  // the name of the rule that is asked now, under which its reasons stand

  // Adds a finding and the reason that supports it.
  void Add(Finding finding) {
    reasons.push_back({rule, finding.why, ReasonKind::kFor, finding.confidence, finding.cause});
    items.push_back(std::move(finding));
  }
  // Records a suspect that turned out to be a consequence of something else.
  void RuleOut(std::string text) {
    reasons.push_back({rule, std::move(text), ReasonKind::kRuledOut});
  }
  void RuleOut(const Case& c, const Rejection& rejection) { RuleOut(RejectionText(c, rejection)); }
  // Records why the rule has no finding although some evidence pointed there.
  void Note(std::string text) { reasons.push_back({rule, std::move(text), ReasonKind::kAgainst}); }
  void Note(const Case& c, const Rejection& rejection) { Note(RejectionText(c, rejection)); }
};

// The job starts, or cannot start because a worker has not come.
void FindStartUp(const Case& c, Findings& out);
// The job advances, or pauses on purpose.
void FindProgress(const Case& c, Findings& out);
// The job was ended from outside, to restart or to cancel it.
void FindEnded(const Case& c, Findings& out);
void FindBarrier(const Case& c, Findings& out);
// Waits that a time-out ended, and workers that the coordination service declared dead in error.
void FindTimedOut(const Case& c, Findings& out);
void FindBadChip(const Case& c, Findings& out);
void FindNetworking(const Case& c, Findings& out);
void FindIci(const Case& c, Findings& out);
void FindDifferentModule(const Case& c, Findings& out);
void FindFingerprintMismatch(const Case& c, Findings& out);
void FindDataStall(const Case& c, Findings& out);
// Applies only where no core decides.
void FindHostPlace(const Case& c, Findings& out);
// A worker that the kernel holds, and for which the others wait.
void FindSilentRuntime(const Case& c, Findings& out);
void FindUnrecoverable(const Case& c, Findings& out);
void FindLostWorker(const Case& c, Findings& out);
// Applies only where logs are all the evidence.
void FindCollectiveNumbers(const Case& c, Findings& out);
// Applies only where logs are all the evidence: after the others, whose findings say more.
void FindInLogs(const Case& c, Findings& out);
// Adds the complaints in logs to a verdict without evidence.
void AddLogEvidence(const Case& c, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_RULES_RULES_H_

// One function per cause, one file each. A rule reads the case and adds its
// findings; no rule knows another, and none decides: it says what it found, how
// sure that is, and what it rests on.
#ifndef RAPIDEYE_CLASSIFIER_RULES_RULES_H_
#define RAPIDEYE_CLASSIFIER_RULES_RULES_H_

#include <string>
#include <vector>

#include "classifier/finding.h"

namespace rapideye::classifier {

// Where rules put what they find, and why they found nothing.
struct Findings {
  std::vector<Finding> items;
  std::vector<Reason> reasons;

  // A finding, and with it what speaks for it.
  void Add(std::string rule, Finding finding) {
    reasons.push_back(
        {std::move(rule), finding.why, ReasonKind::kFor, finding.confidence, finding.cause});
    items.push_back(std::move(finding));
  }
  // What looked like one, and merely follows something else.
  void RuleOut(std::string rule, std::string text) {
    reasons.push_back({std::move(rule), std::move(text), ReasonKind::kRuledOut});
  }
  // Why there is none, though something pointed there.
  void Note(std::string rule, std::string text) {
    reasons.push_back({std::move(rule), std::move(text), ReasonKind::kAgainst});
  }
};

// The job advances, or pauses on purpose.
void FindProgress(const Case& c, Findings& out);
// Somebody has ended it.
void FindEnded(const Case& c, Findings& out);
void FindBarrier(const Case& c, Findings& out);
void FindBadChip(const Case& c, Findings& out);
void FindNetworking(const Case& c, Findings& out);
void FindIci(const Case& c, Findings& out);
void FindDifferentModule(const Case& c, Findings& out);
void FindFingerprintMismatch(const Case& c, Findings& out);
void FindDataStall(const Case& c, Findings& out);
void FindUnrecoverable(const Case& c, Findings& out);
void FindLostWorker(const Case& c, Findings& out);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_RULES_RULES_H_

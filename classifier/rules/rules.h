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

  void Note(std::string rule, std::string text) {
    reasons.push_back({std::move(rule), std::move(text)});
  }
};

// The job advances, or pauses on purpose.
void FindProgress(const Case& c, Findings& out);
// Somebody has ended it.
void FindEnded(const Case& c, Findings& out);
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

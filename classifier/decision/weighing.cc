#include "classifier/decision/weighing.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {

ReasonKind KindOf(Step step) {
  switch (step) {
    case Step::kRestsOnPurpose:
    case Step::kContradicted:
    case Step::kMayBeHeldUp:
    case Step::kExplained:
      return ReasonKind::kRuledOut;
    case Step::kSurest:
    case Step::kTooUncertain:
    case Step::kNothingFound:
    case Step::kAnotherFault:
    case Step::kAnotherReading:
      break;
  }
  return ReasonKind::kDecision;
}

std::string WeighingText(const Weighing& weighing) {
  const auto cause = [](const Finding& finding) { return std::string(CauseName(finding.cause)); };
  const auto by_why = [&](const Finding& finding) {
    return absl::StrCat(cause(finding), " by ", finding.why);
  };
  const auto beside = [&](const char* what) {
    return absl::StrFormat("%s: %s (certainty %.2f)", what, cause(*weighing.finding),
                           weighing.finding->confidence);
  };
  switch (weighing.step) {
    case Step::kRestsOnPurpose:
      return absl::StrCat(by_why(*weighing.finding), ": those hosts rest on purpose");
    case Step::kContradicted:
      return absl::StrCat("no hang by ", weighing.finding->why,
                          ": something surer speaks against it");
    case Step::kMayBeHeldUp:
      return absl::StrCat(by_why(*weighing.finding),
                          ": less sure, for they may be held up: ", weighing.by->why);
    case Step::kExplained:
      return absl::StrCat(by_why(*weighing.finding), ": explained by ", cause(*weighing.by), ", ",
                          weighing.by->why);
    case Step::kSurest:
      return absl::StrCat(
          cause(*weighing.finding), ": of what is left, its finding is the surest",
          weighing.stated ? absl::StrFormat(" (confidence %.2f)", *weighing.stated) : "");
    case Step::kTooUncertain:
      return absl::StrFormat(
          "the surest finding has a certainty of %.2f; what may be named as the cause has at least "
          "%.2f",
          weighing.finding->confidence, kLeastConfidence);
    case Step::kNothingFound:
      return "no rule found anything: nothing singles anyone out";
    case Step::kAnotherFault:
      return beside("another fault, by evidence of its own");
    case Step::kAnotherReading:
      return beside("another fault, or a less sure reading");
  }
  return "";
}

}  // namespace rapideye::classifier

// Weighing states as data a step of the decision; WeighingText puts the step into a sentence.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_WEIGHING_H_
#define RAPIDEYE_CLASSIFIER_DECISION_WEIGHING_H_

#include <optional>
#include <string>

#include "classifier/findings/finding.h"

namespace rapideye::classifier {

enum class Step {
  // The finding is ruled out or doubted ...
  kRestsOnPurpose,  // ... as its hosts rest on purpose
  kContradicted,    // ... as something surer speaks against it: of Cause::kNoHang
  kMayBeHeldUp,     // ... as the workers of `by` may hold up its own: it becomes less sure
  kExplained,       // ... as `by` explains it
  // The findings are weighed:
  kSurest,          // of the findings that are left, this one is the surest
  kTooUncertain,    // the surest finding is less sure than a cause must be
  kNothingFound,    // there is no finding
  kAnotherFault,    // beside the cause, by evidence of its own
  kAnotherReading,  // beside the cause, of another fault or less sure
};
struct Weighing {
  Step step = Step::kNothingFound;
  const Finding* finding = nullptr;             // for all but kNothingFound
  const Finding* by = nullptr;                  // for kMayBeHeldUp and kExplained
  std::optional<double> stated = std::nullopt;  // for kSurest: the confidence of the verdict
};

ReasonKind KindOf(Step step);

// One sentence, bounded and not escaped.
std::string WeighingText(const Weighing& weighing);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_WEIGHING_H_

#include "tests/scenarios/truth.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rapideye::scenarios {
namespace {

std::string Name(const WorkerId& worker) { return absl::StrCat(worker.slice, "/", worker.task); }

std::string Describe(const Culprit& culprit) {
  std::string text = Name(culprit.worker);
  if (culprit.chip) absl::StrAppend(&text, " chip ", *culprit.chip);
  if (culprit.nic) absl::StrAppend(&text, " ", *culprit.nic);
  return text;
}

std::string Describe(const TrueCulprit& culprit) {
  std::string text = Name(culprit.worker);
  if (culprit.chip) absl::StrAppend(&text, " chip ", *culprit.chip);
  if (culprit.nic) absl::StrAppend(&text, " ", *culprit.nic);
  return text;
}

template <typename List>
std::string DescribeAll(const List& culprits) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < culprits.size() && i < kShown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", Describe(culprits[i]));
  }
  if (culprits.size() > kShown) absl::StrAppend(&text, " +", culprits.size() - kShown);
  return text;
}

bool Matches(const TrueCulprit& truth, const Culprit& said) {
  return truth.worker == said.worker && (!truth.chip || truth.chip == said.chip) &&
         (!truth.nic || truth.nic == said.nic);
}

bool DetailMatches(const Answer& answer, Detail detail) {
  return answer.details.empty() ||
         std::find(answer.details.begin(), answer.details.end(), detail) != answer.details.end();
}

bool CulpritsMatch(const Answer& answer, const std::vector<Culprit>& said) {
  if (answer.culprits.empty()) return true;
  const bool none_outside = std::all_of(said.begin(), said.end(), [&](const Culprit& culprit) {
    return std::any_of(answer.culprits.begin(), answer.culprits.end(),
                       [&](const TrueCulprit& truth) { return Matches(truth, culprit); });
  });
  if (!none_outside || said.empty()) return false;
  if (answer.among) return true;
  return std::all_of(answer.culprits.begin(), answer.culprits.end(), [&](const TrueCulprit& truth) {
    return std::any_of(said.begin(), said.end(),
                       [&](const Culprit& culprit) { return Matches(truth, culprit); });
  });
}

// Only the machines of accepted answers may go, and only if this capture allows.
bool IsWrongRemoval(const Truth& truth, const Verdict& verdict) {
  if (!verdict.removal.eligible) return false;
  if (truth.removal == false) return true;
  for (const Culprit& culprit : verdict.culprits) {
    const bool known =
        std::any_of(truth.accepted.begin(), truth.accepted.end(), [&](const Answer& answer) {
          return std::any_of(answer.culprits.begin(), answer.culprits.end(),
                             [&](const TrueCulprit& t) { return t.worker == culprit.worker; });
        });
    if (!known) return true;
  }
  return false;
}

std::string CauseAndDetail(Cause cause, Detail detail) {
  std::string text(CauseName(cause));
  if (detail != Detail::kNone) text += "/" + std::string(DetailName(detail));
  return text;
}

std::string Explain(const Truth& truth, const Verdict& verdict) {
  const Answer& answer = truth.accepted.front();
  const Detail detail = answer.details.empty() ? Detail::kNone : answer.details.front();
  return absl::StrCat("truth ", CauseAndDetail(answer.cause, detail), " {",
                      answer.among ? "among " : "", DescribeAll(answer.culprits), "}, said ",
                      CauseAndDetail(verdict.cause, verdict.detail), " {",
                      DescribeAll(verdict.culprits), "} at ", verdict.confidence.value_or(0));
}

}  // namespace

Grade GradeVerdict(const Truth& truth, const Verdict& verdict) {
  Grade grade;
  grade.unknown = verdict.cause == Cause::kUnknown;
  grade.unknown_allowed = !truth.decidable;
  grade.wrong_removal = IsWrongRemoval(truth, verdict);
  grade.false_alarm = truth.accepted.front().cause == Cause::kNoHang &&
                      verdict.cause != Cause::kNoHang && !(grade.unknown && !truth.decidable);
  for (const Answer& answer : truth.accepted) {
    if (answer.cause != verdict.cause) continue;
    const bool detail = DetailMatches(answer, verdict.detail);
    const bool culprits = CulpritsMatch(answer, verdict.culprits);
    grade.cause = true;
    // The best of the accepted answers counts, taken as a whole.
    if (static_cast<int>(detail) + static_cast<int>(culprits) >=
        static_cast<int>(grade.detail) + static_cast<int>(grade.culprits)) {
      grade.detail = detail;
      grade.culprits = culprits;
    }
  }
  if (grade.unknown && !truth.decidable) grade.cause = grade.detail = grade.culprits = true;
  if (!grade.cause || !grade.detail || !grade.culprits || grade.wrong_removal) {
    grade.reason = Explain(truth, verdict);
  }
  return grade;
}

}  // namespace rapideye::scenarios

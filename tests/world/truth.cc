#include "tests/world/truth.h"

#include <algorithm>

namespace rapideye::world {
namespace {

bool Names(const std::set<Accused>& culprits, const Accused& accused) {
  return std::any_of(culprits.begin(), culprits.end(), [&](const Accused& culprit) {
    return culprit.worker == accused.worker &&
           (!culprit.chip.has_value() || !accused.chip.has_value() || culprit.chip == accused.chip);
  });
}

bool NamesRightly(const Accepted& accepted, const std::set<Accused>& accused) {
  const bool none_else = std::all_of(accused.begin(), accused.end(), [&](const Accused& one) {
    return Names(accepted.culprits, one);
  });
  const bool all = std::all_of(accepted.culprits.begin(), accepted.culprits.end(),
                               [&](const Accused& one) { return Names(accused, one); });
  const bool some = accepted.culprits.empty() || !accused.empty();
  return none_else && (accepted.some_of ? some : all);
}

}  // namespace

Judgement Judge(const Truth& truth, const Verdict& verdict) {
  Judgement judgement;
  std::set<Accused> accused;
  for (const Culprit& culprit : verdict.culprits) {
    accused.insert({culprit.worker, culprit.chip});
    judgement.activity |= truth.activity.has_value() && culprit.host_activity == truth.activity;
  }
  std::set<Accused> guilty;
  for (const Accepted& accepted : truth.accepted) {
    guilty.insert(accepted.culprits.begin(), accepted.culprits.end());
    if (accepted.cause != CauseName(verdict.cause)) {
      continue;
    }
    judgement.cause = true;
    judgement.detail |= accepted.details.empty() ||
                        accepted.details.contains(std::string(DetailName(verdict.detail)));
    judgement.culprits |= accepted.cause == "UNKNOWN" || accepted.cause == "NO_HANG" ||
                          NamesRightly(accepted, accused);
  }
  if (verdict.cause != Cause::kUnknown && verdict.cause != Cause::kNoHang) {
    judgement.accuses_wrongly = std::any_of(accused.begin(), accused.end(),
                                            [&](const Accused& a) { return !Names(guilty, a); });
  }
  if (verdict.removal.eligible) {
    // A target names its host as the culprit it comes from does.
    for (const RemovalTarget& target : verdict.removal.targets) {
      const bool broken = std::any_of(
          verdict.culprits.begin(), verdict.culprits.end(), [&](const Culprit& culprit) {
            return culprit.host == target.host && truth.removable.contains(culprit.worker);
          });
      judgement.removes_wrongly |= !broken;
    }
  }
  return judgement;
}

}  // namespace rapideye::world

#include "tests/world/truth.h"

#include <algorithm>
#include <map>
#include <utility>

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

void AcceptWhatBefell(const std::vector<bool>& happened, Truth& truth) {
  if (truth.events.empty()) {
    return;
  }
  size_t at = 0;
  std::vector<Befell> kept;
  for (Befell& event : truth.events) {
    if (happened[at]) {
      kept.push_back(event);
    }
    at += event.faults;
  }
  truth.events = std::move(kept);
  const auto may_be_unknown = [](const Befell& event) {
    return std::any_of(event.accepted.begin(), event.accepted.end(),
                       [](const Accepted& accepted) { return accepted.cause == "UNKNOWN"; });
  };
  const bool unknown = std::all_of(truth.events.begin(), truth.events.end(), may_be_unknown);
  truth.accepted.clear();
  for (const Befell& event : truth.events) {
    for (const Accepted& accepted : event.accepted) {
      if (accepted.cause != "UNKNOWN" || unknown) {
        truth.accepted.push_back(accepted);
      }
    }
  }
  // Two chips may be named as one cause in two places.
  std::map<std::pair<std::string, std::set<std::string>>, std::set<Accused>> alike;
  for (const Befell& event : truth.events) {
    const Accepted& best = event.accepted.front();
    alike[{best.cause, best.details}].insert(best.culprits.begin(), best.culprits.end());
  }
  for (const auto& [what, culprits] : alike) {
    truth.accepted.push_back({what.first, what.second, culprits});
  }
}

namespace {

bool Matches(const Befell& event, Cause cause, const std::set<Accused>& accused) {
  return std::any_of(event.accepted.begin(), event.accepted.end(), [&](const Accepted& accepted) {
    return accepted.cause == CauseName(cause) &&
           std::any_of(accused.begin(), accused.end(),
                       [&](const Accused& one) { return Names(accepted.culprits, one); });
  });
}

std::set<Accused> AccusedOf(const std::vector<Culprit>& culprits) {
  std::set<Accused> accused;
  for (const Culprit& culprit : culprits) {
    accused.insert({culprit.worker, culprit.chip});
  }
  return accused;
}

void JudgeOthers(const Truth& truth, const Verdict& verdict, const std::set<Accused>& guilty,
                 Judgement& judgement) {
  for (const Alternative& alternative : verdict.alternatives) {
    for (const Accused& one : AccusedOf(alternative.culprits)) {
      judgement.adds_wrongly |= alternative.independent && !Names(guilty, one);
    }
  }
  for (const Befell& event : truth.events) {
    if (truth.events.size() < 2 || Matches(event, verdict.cause, AccusedOf(verdict.culprits))) {
      continue;
    }
    ++judgement.others;
    judgement.others_named += std::any_of(
        verdict.alternatives.begin(), verdict.alternatives.end(), [&](const Alternative& other) {
          return other.independent && Matches(event, other.cause, AccusedOf(other.culprits));
        });
  }
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
  JudgeOthers(truth, verdict, guilty, judgement);
  if (verdict.removal.eligible) {
    // A target has the host name of the culprit that it comes from.
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

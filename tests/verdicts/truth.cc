#include "tests/verdicts/truth.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rapideye::testing {
namespace {

std::optional<std::set<TrueCulprit>> Culprits(const nlohmann::json& accept, const char* key) {
  if (!accept.contains(key)) return std::nullopt;
  std::set<TrueCulprit> culprits;
  for (const auto& entry : accept.at(key)) {
    TrueCulprit culprit;
    culprit.slice = entry.at("slice");
    culprit.task = entry.at("task");
    if (entry.contains("chip")) culprit.chip = entry.at("chip").get<int32_t>();
    culprits.insert(culprit);
  }
  return culprits;
}

// Chips count only where the truth names them.
std::set<TrueCulprit> Named(const Verdict& verdict, const std::set<TrueCulprit>& truth) {
  const bool chips = std::any_of(truth.begin(), truth.end(),
                                 [](const TrueCulprit& c) { return c.chip.has_value(); });
  std::set<TrueCulprit> named;
  for (const Culprit& culprit : verdict.culprits) {
    named.insert({culprit.worker.slice, culprit.worker.task,
                  chips ? culprit.chip : std::optional<int32_t>()});
  }
  return named;
}

bool SameCause(const Accepted& accept, const Verdict& verdict) {
  return accept.cause == CauseName(verdict.cause) &&
         (!accept.detail.has_value() || *accept.detail == DetailName(verdict.detail));
}

bool Includes(const std::set<TrueCulprit>& all, const std::set<TrueCulprit>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

std::map<std::string, Truth> LoadTruth(const std::string& path) {
  std::ifstream in(path);
  std::map<std::string, Truth> truths;
  const nlohmann::json all = nlohmann::json::parse(in);
  for (const auto& [file, entry] : all.items()) {
    Truth truth;
    if (!entry.at("removal").is_null()) truth.removal = entry.at("removal").get<bool>();
    for (const auto& accept : entry.at("accept")) {
      Accepted accepted;
      accepted.cause = accept.at("cause");
      if (accept.contains("detail")) accepted.detail = accept.at("detail").get<std::string>();
      accepted.culprits = Culprits(accept, "culprits");
      accepted.culprits_are_among = Culprits(accept, "culpritsAreAmong");
      truth.accept.push_back(accepted);
    }
    truths[file] = truth;
  }
  return truths;
}

bool Accepts(const Truth& truth, const Verdict& verdict) {
  if (truth.removal.has_value() && verdict.removal.eligible != *truth.removal) return false;
  return std::any_of(truth.accept.begin(), truth.accept.end(), [&](const Accepted& accept) {
    if (!SameCause(accept, verdict)) return false;
    if (accept.culprits) return Named(verdict, *accept.culprits) == *accept.culprits;
    if (accept.culprits_are_among) {
      return !verdict.culprits.empty() &&
             Includes(*accept.culprits_are_among, Named(verdict, *accept.culprits_are_among));
    }
    return verdict.culprits.empty();
  });
}

bool AccusesNobodyWrongly(const Truth& truth, const Verdict& verdict) {
  if (truth.removal == false && verdict.removal.eligible) return false;
  if (verdict.cause == Cause::kUnknown) return verdict.culprits.empty();
  return std::any_of(truth.accept.begin(), truth.accept.end(), [&](const Accepted& accept) {
    const auto& culprits = accept.culprits ? accept.culprits : accept.culprits_are_among;
    return accept.cause == CauseName(verdict.cause) &&
           (!culprits || Includes(*culprits, Named(verdict, *culprits)));
  });
}

}  // namespace rapideye::testing

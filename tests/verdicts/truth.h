// Truth states the cause of a sample capture (tests/samples/truth.json).
#ifndef RAPIDEYE_TESTS_VERDICTS_TRUTH_H_
#define RAPIDEYE_TESTS_VERDICTS_TRUTH_H_

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"

namespace rapideye::testing {

struct TrueCulprit {
  int32_t slice = 0;
  int32_t task = 0;
  std::optional<int32_t> chip;
  auto operator<=>(const TrueCulprit&) const = default;
};

struct Accepted {
  std::string cause;
  std::optional<std::string> detail;
  std::optional<std::set<TrueCulprit>> culprits;            // exactly these
  std::optional<std::set<TrueCulprit>> culprits_are_among;  // one at least, none outside
};

struct Truth {
  std::vector<Accepted> accept;
  std::optional<bool> removal;
};

// By file name. Throws on a truth file that is not as described.
std::map<std::string, Truth> LoadTruth(const std::string& path);

bool Accepts(const Truth& truth, const Verdict& verdict);
// The cause is right, and nobody is accused who is not a culprit.
bool AccusesNobodyWrongly(const Truth& truth, const Verdict& verdict);

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_VERDICTS_TRUTH_H_

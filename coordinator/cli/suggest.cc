#include "coordinator/cli/suggest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/table.h"

namespace rapideye::cli {
namespace {

constexpr size_t kMaxSuggestions = 3;

// Characters that are the same at the same place.
size_t Likeness(const std::string& a, const std::string& b) {
  size_t same = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) same += a[i] == b[i] ? 1 : 0;
  return same;
}

}  // namespace

std::string Closest(const std::string& wanted, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const std::string& name : known) names.push_back(Shown(name));
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return Likeness(a, wanted) > Likeness(b, wanted);
  });
  names.resize(std::min(names.size(), kMaxSuggestions));
  return absl::StrCat("; closest: ", absl::StrJoin(names, ", "));
}

}  // namespace rapideye::cli

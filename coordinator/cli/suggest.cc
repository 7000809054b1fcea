#include "coordinator/cli/suggest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/table.h"
#include "proto/common/text/likeness.h"

namespace rapideye::cli {
namespace {

constexpr size_t kMaxSuggestions = 3;

}  // namespace

std::string Closest(const std::string& wanted, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const std::string& name : known) names.push_back(Shown(name));
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return text::EditDistance(a, wanted) < text::EditDistance(b, wanted);
  });
  names.resize(std::min(names.size(), kMaxSuggestions));
  return absl::StrCat("; closest: ", absl::StrJoin(names, ", "));
}

}  // namespace rapideye::cli

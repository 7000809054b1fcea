#include "agent/sources/registry.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::agent {
namespace {

template <typename... Source>
std::vector<std::string> NamesOf(SourceList<Source...>) {
  return {Source::kName...};
}

}  // namespace

std::vector<std::string> SourceNames() { return NamesOf(Sources()); }

absl::StatusOr<std::set<std::string>> ParseSources(const std::vector<std::string>& names) {
  const std::vector<std::string> known = SourceNames();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--disable: there is no source '", name,
                                                     "'; there are ", absl::StrJoin(known, ", ")));
    }
  }
  return std::set<std::string>(names.begin(), names.end());
}

}  // namespace rapideye::agent

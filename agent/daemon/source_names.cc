#include "agent/daemon/source_names.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::agent {
namespace {

struct Named {
  const char* name;
  Source source;
};
constexpr std::array kSources = {
    Named{"log", Source::kLog},
    Named{"process", Source::kProcess},
    Named{"tcp", Source::kTcp},
    Named{"nic", Source::kNic},
    Named{"pcie", Source::kPcie},
    Named{"kernel-log", Source::kKernelLog},
    Named{"hlo-dump", Source::kHloDump},
    Named{"progress-page", Source::kProgressPage},
    Named{"runtime-metrics", Source::kRuntimeMetrics},
    Named{"probe", Source::kProbe},
    Named{"stacks", Source::kStacks},
};

}  // namespace

std::vector<std::string> SourceNames() {
  std::vector<std::string> names;
  for (const Named& named : kSources) names.emplace_back(named.name);
  return names;
}

absl::StatusOr<DisabledSources> ParseSources(const std::vector<std::string>& names) {
  DisabledSources sources;
  for (const std::string& name : names) {
    const auto* const found = std::find_if(kSources.begin(), kSources.end(),
                                           [&](const Named& named) { return named.name == name; });
    if (found == kSources.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--disable: there is no source '", name,
                                                     "'; there are ",
                                                     absl::StrJoin(SourceNames(), ", ")));
    }
    sources.insert(found->source);
  }
  return sources;
}

}  // namespace rapideye::agent

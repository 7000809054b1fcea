// The sources an operator can switch off, by name.
#ifndef RAPIDEYE_AGENT_DAEMON_SOURCE_NAMES_H_
#define RAPIDEYE_AGENT_DAEMON_SOURCE_NAMES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rapideye::agent {

// Those that are named after a folder of agent/sources. The runtime is what the
// agent is for, and cannot be switched off.
enum class Source {
  kLog,
  kProcess,
  kTcp,
  kNic,
  kPcie,
  kKernelLog,
  kHloDump,
  kProgressPage,
  kRuntimeMetrics,
  kProbe,
  kStacks
};

using DisabledSources = std::set<Source>;

// As `--disable` takes them, in the order of the enumeration.
std::vector<std::string> SourceNames();

// INVALID_ARGUMENT names what is no source, and those there are.
absl::StatusOr<DisabledSources> ParseSources(const std::vector<std::string>& names);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_SOURCE_NAMES_H_

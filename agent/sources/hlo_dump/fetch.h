// Reads XLA's dumps from their directory.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/sources/hlo_dump/state.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// All of these block for at most about `deadline`, unless the disk hangs. Only regular
// files that lie in the directory itself are opened: links are not followed. Errors say
// what to do, for people.

// Names of modules by the fingerprints that the dumps' own attributes hold; looks into the
// beginnings of the latest dumps.
HloDumpReading ListHloDumps(const std::string& directory, absl::Duration deadline);

// The text of the program with this fingerprint, compressed and bounded. `module` is its
// name, if it is known. Beyond the bounds the text is cut.
absl::StatusOr<wire::ModuleText> ReadModuleText(const std::string& directory,
                                                const std::optional<std::string>& module,
                                                const std::string& fingerprint,
                                                absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_

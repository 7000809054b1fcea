// Lists the processes that hold the chips of this host open.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_HOLDERS_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_HOLDERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/sources/source.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Processes with device files of chips open, except the training process and its children:
// a leftover of an earlier run keeps the chips from the next one. If the training process
// has chips, a process with other chips is another worker of the host. Searches
// all descriptors of all processes that may be looked into, within a deadline;
// holders not found by then are left out. `dev_root` is the path of the device files
// as those processes see it, normally "/dev". `training`: absent if it is not known; then the
// training process may be among the holders.
std::vector<ChipHolder> FindChipHolders(const std::string& proc_root, absl::string_view dev_root,
                                        const std::optional<ProcessId>& training);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_HOLDERS_H_

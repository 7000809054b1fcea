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

// Processes with device files of chips open, but for the training process and what it
// has begotten: a leftover of an earlier run keeps the chips from the next. Where the
// training process has chips, who has others is another worker of the host. Looks
// through all descriptors of all processes that may be looked into, within a deadline;
// what is not seen by then is left out. `dev_root` is how the device files are called
// where those processes are, normally "/dev". `training`: absent if it is not known,
// and then nobody is told from it, so that there is nobody to name.
std::vector<ChipHolder> FindChipHolders(const std::string& proc_root, absl::string_view dev_root,
                                        const std::optional<ProcessId>& training);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_HOLDERS_H_

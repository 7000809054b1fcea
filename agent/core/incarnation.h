// Decides whether samples still come from the same training process.
#ifndef RAPIDEYE_AGENT_CORE_INCARNATION_H_
#define RAPIDEYE_AGENT_CORE_INCARNATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "agent/sources/source.h"

namespace rapideye::agent {

// Evidence that a sample is of another training process. The runtime does not identify
// its process: the host does, or a change of the runtime's counters and ids
// shows it.
struct ProcessSigns {
  bool counters_restarted = false;  // a launch counter went back or leapt
  bool runtime_was_gone = false;    // the port was closed since the last sample
  std::optional<std::string> host_name_before;
  std::optional<std::string> host_name_now;
  // Number and start time, where the host shows them.
  std::optional<ProcessId> process_before;
  std::optional<ProcessId> process_now;
};

// A runtime that merely did not answer for a while is the same process.
bool IsNewProcess(const ProcessSigns& signs);

// Names the incarnation: after the process itself if it is known, so that a
// restarted agent uses the same name; else by count, behind a prefix
// that is this agent's own. `count` also tells apart runtimes that one process
// starts one after the other.
std::string NameIncarnation(const std::string& prefix, int64_t count, const ProcessSigns& signs);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_INCARNATION_H_

// Is this still the same training process?
#ifndef RAPIDEYE_AGENT_CORE_INCARNATION_H_
#define RAPIDEYE_AGENT_CORE_INCARNATION_H_

#include <optional>
#include <string>

namespace rapideye::agent {

// What tells a training process from the one before. The runtime says nothing
// about its process, so it is concluded from what the runtime shows.
struct ProcessSigns {
  bool counters_restarted = false;  // a launch counter went back or leapt
  bool runtime_was_gone = false;    // nobody listened since the last sample
  std::optional<std::string> host_name_before;
  std::optional<std::string> host_name_now;
};

// A runtime that merely did not answer for a while is the same process.
bool IsNewProcess(const ProcessSigns& signs);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_INCARNATION_H_

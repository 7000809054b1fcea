// Which incident this worker was last part of, for a coordinator that restarts: it
// learns from its agents what was begun or finished before it.
#ifndef RAPIDEYE_AGENT_CORE_INCIDENT_MEMORY_H_
#define RAPIDEYE_AGENT_CORE_INCIDENT_MEMORY_H_

#include <optional>
#include <string>
#include <utility>

#include "proto/wire/messages.h"

namespace rapideye::agent {

// Holds for one standstill of one training process: a launch that completes, or
// another process, ends it. `process` is what the process is called; absent while
// none was seen.
class IncidentMemory {
 public:
  // The coordinator collects for this incident.
  void Collected(const std::string& incident, const std::optional<std::string>& process);
  // Its digest is out. Of an incident that this agent did not collect for, that is
  // remembered only if the worker stands still: it was away, and is part of it.
  void Concluded(const std::string& incident, bool stands_still,
                 const std::optional<std::string>& process);
  // A launch has completed.
  void Progressed() { memory_.reset(); }
  // The samples are of this process from now on.
  void Watching(const std::optional<std::string>& process);
  // What an agent before this one remembered.
  void Restore(std::optional<wire::IncidentMemory> memory) { memory_ = std::move(memory); }

  const std::optional<wire::IncidentMemory>& memory() const { return memory_; }

 private:
  std::optional<wire::IncidentMemory> memory_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_INCIDENT_MEMORY_H_

#include "agent/core/incident_memory.h"

namespace rapideye::agent {

void IncidentMemory::Collected(const std::string& incident,
                               const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->incident == incident) return;
  memory_ = wire::IncidentMemory{incident, false, process};
}

void IncidentMemory::Concluded(const std::string& incident, bool stands_still,
                               const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->incident == incident) {
    memory_->concluded = true;
  } else if (stands_still) {
    memory_ = wire::IncidentMemory{incident, true, process};
  }
}

void IncidentMemory::Watching(const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->process_incarnation != process) memory_.reset();
}

}  // namespace rapideye::agent

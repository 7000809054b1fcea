#include "coordinator/core/restart_recovery.h"

#include <utility>

namespace rapideye::coordinator {

void RestartRecovery::OnHello(const WorkerId& worker,
                              const std::optional<wire::IncidentMemory>& memory) {
  if (memory.has_value()) {
    votes_[worker] = Vote{.memory = *memory};
  } else {
    votes_.erase(worker);
  }
}

void RestartRecovery::OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat,
                                  bool advanced) {
  auto found = votes_.find(worker);
  if (found == votes_.end()) return;
  // No process at all is another one too: the next that comes is of another
  // incarnation. Agents go on naming one that ended under their eyes.
  const bool same = found->second.memory.process_incarnation == heartbeat.process_incarnation;
  if (advanced || !same) {
    votes_.erase(found);
  } else {
    found->second.confirmed = true;
  }
}

void RestartRecovery::OnDisk(std::vector<std::string> incidents, std::vector<std::string> unknown) {
  for (std::string& incident : incidents) on_disk_.insert(std::move(incident));
  for (std::string& incident : unknown) unknown_.insert(std::move(incident));
}

std::optional<RestartRecovery::Decision> RestartRecovery::Decide(size_t connected) const {
  struct Count {
    size_t cast = 0;
    size_t confirmed = 0;
    size_t concluded = 0;  // of these
  };
  std::map<std::string, Count> counts;
  for (const auto& [worker, vote] : votes_) {
    Count& count = counts[vote.memory.incident];
    ++count.cast;
    if (!vote.confirmed) continue;
    ++count.confirmed;
    if (vote.memory.concluded) ++count.concluded;
  }
  for (const auto& [incident, count] : counts) {
    if (count.cast * 2 <= connected) continue;
    return Decision{.incident = incident,
                    .confirmed = count.confirmed * 2 > connected,
                    .concluded = count.concluded * 2 > connected,
                    .written = on_disk_.contains(incident)};
  }
  return std::nullopt;
}

bool RestartRecovery::MayDecide(bool settled, size_t connected) const {
  return Any() && (!settled || Decide(connected).has_value());
}

}  // namespace rapideye::coordinator

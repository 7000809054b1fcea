#include "coordinator/core/restart_recovery.h"

#include <utility>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void RestartRecovery::OnHello(const WorkerId& worker,
                              const std::optional<wire::IncidentMemory>& memory,
                              const std::string& host) {
  hosts_.Join(worker, host);
  left_.erase(worker);
  if (memory.has_value()) {
    votes_[worker] = Vote{.memory = *memory};
  } else {
    votes_.erase(worker);
  }
}

void RestartRecovery::OnLeave(const WorkerId& worker, absl::Duration now) { left_[worker] = now; }

void RestartRecovery::Follow(absl::Duration now) {
  for (auto it = left_.begin(); it != left_.end();) {
    const auto& [worker, since] = *it;
    if (now - since < kSettleTime) {
      ++it;
      continue;
    }
    votes_.erase(worker);
    hosts_.Leave(worker);
    it = left_.erase(it);
  }
}

void RestartRecovery::OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat,
                                  bool advanced) {
  auto found = votes_.find(worker);
  if (found == votes_.end()) return;
  // A missing process is another one, too: the next process that comes has another
  // incarnation. An agent goes on naming a process that ended while it watched.
  const bool same = found->second.memory.process_incarnation == heartbeat.process_incarnation;
  if (advanced || !same) {
    votes_.erase(found);
  } else {
    found->second.confirmed = true;
  }
}

void RestartRecovery::OnDisk(std::vector<std::string> incidents, std::vector<std::string> unknown,
                             std::map<std::string, ToldVerdict> verdicts) {
  for (std::string& incident : incidents) on_disk_.insert(std::move(incident));
  for (std::string& incident : unknown) unknown_.insert(std::move(incident));
  verdicts_ = std::move(verdicts);
}

std::optional<ToldVerdict> RestartRecovery::VerdictOn(const std::string& incident) const {
  const auto found = verdicts_.find(incident);
  return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<RestartRecovery::Decision> RestartRecovery::Decide() const {
  struct Count {
    double cast = 0;
    double confirmed = 0;
    double concluded = 0;  // part of the confirmed votes
  };
  const double all = hosts_.All();
  std::map<std::string, Count> counts;
  for (const auto& [worker, vote] : votes_) {
    Count& count = counts[vote.memory.incident];
    const double part = hosts_.PartOf(worker);
    count.cast += part;
    if (!vote.confirmed) continue;
    count.confirmed += part;
    if (vote.memory.concluded) count.concluded += part;
  }
  for (const auto& [incident, count] : counts) {
    if (!IsMost(count.cast, all)) continue;
    return Decision{.incident = incident,
                    .confirmed = IsMost(count.confirmed, all),
                    .concluded = IsMost(count.concluded, all),
                    .written = on_disk_.contains(incident)};
  }
  return std::nullopt;
}

bool RestartRecovery::MayDecide(bool settled) const {
  return Any() && (!settled || Decide().has_value());
}

}  // namespace rapideye::coordinator

#include "classifier/host/foreign_holders.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "classifier/host/obstacles.h"

namespace rapideye::classifier {
namespace {

// A host has one leftover or a few; a job in which each worker has some is shown by these.
constexpr size_t kMostHolders = 1000;

// The training processes of the job, by host.
std::set<std::pair<std::string_view, int64_t>> TrainingProcesses(const Topology& topology) {
  std::set<std::pair<std::string_view, int64_t>> known;
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const Process& process : worker.snapshot->processes) {
      known.emplace(worker.host, process.pid);
    }
  }
  return known;
}

}  // namespace

std::vector<ForeignHolder> FindForeignHolders(const Topology& topology) {
  const auto training = TrainingProcesses(topology);
  std::vector<ForeignHolder> found;
  for (size_t i = 0; i < topology.workers().size() && found.size() < kMostHolders; ++i) {
    const WorkerInfo& worker = topology.workers()[i];
    if (worker.snapshot == nullptr) continue;
    std::map<int64_t, const Process*> holders;
    for (const Obstacle* obstacle : ObstaclesOf(topology, static_cast<int>(i))) {
      if (obstacle->kind == ObstacleKind::kDeviceHeld && obstacle->holder.has_value()) {
        holders.emplace(obstacle->holder->pid, &*obstacle->holder);
      }
    }
    for (const ChipHolder& holder : worker.snapshot->chip_holders) {
      if (holder.devices.empty() || worker.snapshot->processes.empty()) continue;
      if (training.contains({worker.host, holder.process.pid})) continue;
      holders.emplace(holder.process.pid, &holder.process);
    }
    for (const auto& [pid, process] : holders) {
      if (found.size() < kMostHolders) found.push_back({worker.id, *process});
    }
  }
  return found;
}

}  // namespace rapideye::classifier

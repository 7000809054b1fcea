#include "classifier/host/obstacles.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "classifier/host/start_up_stage.h"

namespace rapideye::classifier {
namespace {

// The training processes of one job start within less time.
constexpr int64_t kSameStartMs = 60'000;
constexpr size_t kMostSentences = 4;

// The age of the oldest training process of the other workers; absent: none is known.
std::optional<int64_t> OldestOfOthers(const Topology& topology, int worker) {
  std::optional<int64_t> oldest;
  for (size_t i = 0; i < topology.workers().size(); ++i) {
    const Snapshot* snapshot = topology.workers()[i].snapshot;
    if (snapshot == nullptr || static_cast<int>(i) == worker) continue;
    for (const Process& process : snapshot->processes) {
      if (!process.started_ms_ago.has_value()) continue;
      oldest = std::max(oldest.value_or(0), *process.started_ms_ago);
    }
  }
  return oldest;
}

bool SharesHost(const Topology& topology, int worker) {
  const std::string_view host = topology.worker(worker).host;
  return !host.empty() &&
         std::count_if(topology.workers().begin(), topology.workers().end(),
                       [&](const WorkerInfo& other) { return other.host == host; }) > 1;
}

bool IsLeftover(const Topology& topology, int worker, const Obstacle& obstacle) {
  const Snapshot& snapshot = *topology.worker(worker).snapshot;
  if (!obstacle.holder.has_value()) return false;
  const std::optional<int64_t> age = obstacle.holder->started_ms_ago;
  const std::optional<int64_t> others = OldestOfOthers(topology, worker);
  const bool older_than_others =
      age.has_value() && others.has_value() && *age > *others + kSameStartMs;
  // The other workers of the host rightly hold chips of their own.
  if (snapshot.processes.empty() || SharesHost(topology, worker)) return older_than_others;
  const int64_t own = snapshot.processes.front().started_ms_ago.value_or(0);
  return !age.has_value() || *age > own + kSameStartMs;
}

}  // namespace

std::vector<const Obstacle*> ObstaclesOf(const Topology& topology, int worker) {
  std::vector<const Obstacle*> obstacles;
  const Snapshot* snapshot = topology.worker(worker).snapshot;
  if (snapshot == nullptr || !snapshot->start_up.has_value()) return obstacles;
  const StartUp& start_up = *snapshot->start_up;
  if (start_up.launch_ms.has_value()) return obstacles;
  for (const Obstacle& obstacle : start_up.obstacles) {
    const bool of_device = obstacle.kind != ObstacleKind::kPortTaken;
    if (obstacle.kind == ObstacleKind::kUnspecified) continue;
    if (of_device && start_up.device_ms.has_value()) continue;
    if (obstacle.kind == ObstacleKind::kDeviceHeld && !IsLeftover(topology, worker, obstacle)) {
      continue;
    }
    obstacles.push_back(&obstacle);
  }
  return obstacles;
}

std::string DescribeObstacles(const std::vector<const Obstacle*>& obstacles) {
  std::string text;
  // One process usually holds all chips of a host: the text names it once.
  std::set<int64_t> holders;
  size_t sentences = 0;
  size_t left_out = 0;
  for (const Obstacle* obstacle : obstacles) {
    const bool held = obstacle->kind == ObstacleKind::kDeviceHeld && obstacle->holder.has_value();
    if ((held && !holders.insert(obstacle->holder->pid).second) || sentences >= kMostSentences) {
      ++left_out;
      continue;
    }
    absl::StrAppend(&text, text.empty() ? "" : "; ", DescribeObstacle(*obstacle));
    ++sentences;
  }
  if (left_out > 0) absl::StrAppend(&text, "; and ", left_out, " more like this");
  return text;
}

}  // namespace rapideye::classifier

#include "classifier/errors/restarts.h"

#include <algorithm>
#include <cstddef>

#include "classifier/host/host_place.h"
#include "classifier/host/stacks.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

int64_t Median(std::vector<int64_t> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<int64_t> StartedMsAgo(const Snapshot& snapshot) {
  std::optional<int64_t> oldest;
  for (const Process& process : snapshot.processes) {
    if (!IsAlive(process) || !process.started_ms_ago) continue;
    if (!oldest || *process.started_ms_ago > *oldest) oldest = process.started_ms_ago;
  }
  return oldest;
}

bool IsAlive(const Process& process) {
  if (IsFrozen(process)) return false;
  return process.state == ProcessState::kRunning || process.state == ProcessState::kSleeping ||
         process.state == ProcessState::kUninterruptible;
}

bool RanOut(const Snapshot& snapshot) {
  return std::all_of(snapshot.cores.begin(), snapshot.cores.end(), [](const Core& core) {
    const bool runs = !core.sequencers.empty() && core.sequencers.front().pc.value_or(0) != 0;
    return !runs && core.queued.empty();
  });
}

std::vector<Restart> FindRestarts(const Topology& topology, std::optional<int64_t> since_ms,
                                  std::optional<int64_t> still_ms) {
  std::vector<int64_t> others;  // ages of processes that may be from before the standstill
  std::vector<Restart> anew;
  for (size_t i = 0; i < topology.workers().size(); ++i) {
    const WorkerInfo& worker = topology.workers()[i];
    if (worker.snapshot == nullptr || worker.standby) continue;
    const std::optional<int64_t> started = StartedMsAgo(*worker.snapshot);
    if (!started) continue;
    if (since_ms && *started <= *since_ms && !worker.snapshot->cores.empty() &&
        RanOut(*worker.snapshot)) {
      anew.push_back({.worker = static_cast<int>(i), .started_ms_ago = *started});
    } else {
      others.push_back(*started);
    }
  }
  if (others.empty() && anew.size() == 1) {
    // No other age is known; but the others ended their last launches before this process began.
    others.push_back(still_ms.value_or(0));
  }
  // Without any from before, the job as a whole was started anew.
  if (others.empty()) return {};
  const int64_t usual = Median(std::move(others));
  std::erase_if(anew,
                [&](const Restart& one) { return one.started_ms_ago + kAgeErrorMs >= usual; });
  // A process ends with a peer, and the launcher of both starts them again in that order.
  int64_t first = 0;
  for (const Restart& one : anew) first = std::max(first, one.started_ms_ago);
  std::erase_if(anew, [&](const Restart& one) {
    const int64_t later = first - one.started_ms_ago;
    return later > kRestartSpreadMs && later <= kVictimEndsWithinMs;
  });
  for (Restart& one : anew) {
    one.among_others = std::any_of(anew.begin(), anew.end(), [&](const Restart& other) {
      return other.worker != one.worker && other.started_ms_ago + kAgeErrorMs >= one.started_ms_ago;
    });
  }
  return anew;
}

}  // namespace rapideye::classifier

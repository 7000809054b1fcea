#include "coordinator/core/launch_history.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

// Launch ids are 32-bit counters that wrap.
int32_t Plus(int32_t id, int32_t count) {
  return static_cast<int32_t>(static_cast<uint32_t>(id) + static_cast<uint32_t>(count));
}

std::map<ProgramNumber, int32_t> CountPrograms(const std::vector<Launch>& launches, size_t length) {
  std::map<ProgramNumber, int32_t> counts;
  for (size_t i = 0; i < length; ++i) ++counts[launches[i].program];
  return counts;
}

bool Repeats(const std::vector<Launch>& launches, size_t period) {
  const std::map<ProgramNumber, int32_t> per_step = CountPrograms(launches, period);
  for (size_t i = 0; i + period < launches.size(); ++i) {
    const Launch& now = launches[i];
    const Launch& next = launches[i + period];
    if (now.program != next.program) return false;
    if (next.id != Plus(now.id, per_step.at(now.program))) return false;
  }
  return true;
}

bool Covers(const std::map<ProgramNumber, int32_t>& per_step,
            const std::map<ProgramNumber, int64_t>& completed) {
  int64_t rarest = std::numeric_limits<int64_t>::max();
  for (const auto& [program, count] : per_step) {
    auto found = completed.find(program);
    rarest = std::min(rarest, found == completed.end() ? 0 : found->second);
  }
  return std::all_of(completed.begin(), completed.end(), [&](const auto& entry) {
    return per_step.contains(entry.first) || entry.second * 2 < rarest;
  });
}

// The rotation whose program numbers come first in lexical order.
size_t FirstRotation(const std::vector<Launch>& cycle) {
  const size_t n = cycle.size();
  size_t best = 0;
  for (size_t candidate = 1; candidate < n; ++candidate) {
    for (size_t i = 0; i < n; ++i) {
      const ProgramNumber a = cycle[(candidate + i) % n].program;
      const ProgramNumber b = cycle[(best + i) % n].program;
      if (a == b) continue;
      if (a < b) best = candidate;
      break;
    }
  }
  return best;
}

}  // namespace

void LaunchHistory::Append(const std::vector<Launch>& queue) {
  if (queue.empty()) return;
  auto overlap = std::find(launches_.begin(), launches_.end(), queue.front());
  const size_t kept = static_cast<size_t>(overlap - launches_.begin());
  const size_t common = std::min(launches_.size() - kept, queue.size());
  const bool agrees =
      common > 0 && std::equal(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(common),
                               launches_.begin() + static_cast<ptrdiff_t>(kept));
  if (agrees) {
    launches_.insert(launches_.end(), queue.begin() + static_cast<ptrdiff_t>(common), queue.end());
  } else {
    launches_ = queue;
  }
  if (launches_.size() > kMaxLaunchHistory) {
    launches_.erase(launches_.begin(), launches_.end() - static_cast<ptrdiff_t>(kMaxLaunchHistory));
  }
}

std::vector<Launch> LaunchHistory::Step(const std::map<ProgramNumber, int64_t>& completed) const {
  size_t period = 0;
  // A single launch of the only program needs no repetition to be a step.
  if (launches_.size() == 1 && completed.size() <= 1) period = 1;
  for (size_t p = 1; period == 0 && p < launches_.size(); ++p) {
    if (Repeats(launches_, p)) period = p;
  }
  if (period == 0) return {};
  const std::vector<Launch> cycle(launches_.end() - static_cast<ptrdiff_t>(period),
                                  launches_.end());
  const std::map<ProgramNumber, int32_t> per_step = CountPrograms(cycle, period);
  if (!Covers(per_step, completed)) return {};
  const size_t first = FirstRotation(cycle);
  std::vector<Launch> step(cycle.begin() + static_cast<ptrdiff_t>(first), cycle.end());
  // Launches cut off the front run again at the end, one step later.
  for (size_t i = 0; i < first; ++i) {
    step.push_back({cycle[i].program, Plus(cycle[i].id, per_step.at(cycle[i].program))});
  }
  return step;
}

}  // namespace rapideye::coordinator

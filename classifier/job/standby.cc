#include "classifier/job/standby.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

bool HasRun(const Core& core) {
  return core.program.has_value() || core.launch_id.has_value() || !core.queued.empty() ||
         std::any_of(core.sequencers.begin(), core.sequencers.end(), [](const Sequencer& s) {
           return s.pc.value_or(0) != 0 || s.run_id.value_or(0) != 0;
         });
}

bool ShowsCores(const WorkerInfo& worker) {
  return worker.snapshot != nullptr && !worker.snapshot->cores.empty();
}

bool HasRun(const WorkerInfo& worker) {
  const std::vector<Core>& cores = worker.snapshot->cores;
  return std::any_of(cores.begin(), cores.end(), [](const Core& core) { return HasRun(core); });
}

// The time since the core last completed a launch, or since polls watch the core.
std::optional<int64_t> StoodMs(const Core& core) {
  if (core.stuck_ms.has_value() || core.sequencers.empty()) return core.stuck_ms;
  return core.sequencers.front().frozen_ms;
}

// The longest time for which any core that has run a launch stands.
std::optional<int64_t> LongestStand(const std::vector<WorkerInfo>& workers) {
  std::optional<int64_t> longest;
  for (const WorkerInfo& worker : workers) {
    if (!ShowsCores(worker)) continue;
    for (const Core& core : worker.snapshot->cores) {
      const auto stood = HasRun(core) ? StoodMs(core) : std::nullopt;
      if (stood && (!longest || *stood > *longest)) longest = stood;
    }
  }
  return longest;
}

// True if no core of the slice shows a trace of a launch, and none has stood so briefly
// that it may have run.
bool NeverRan(const SliceInfo& slice, int64_t longest, const std::vector<WorkerInfo>& workers) {
  bool any = false;
  for (int i = slice.first; i < slice.last; ++i) {
    const WorkerInfo& worker = workers[static_cast<size_t>(i)];
    if (!ShowsCores(worker)) continue;
    for (const Core& core : worker.snapshot->cores) {
      const auto stood = StoodMs(core);
      const bool recent = stood && *stood <= longest + longest / 2 + kOldNewsMs;
      if (HasRun(core) || recent) return false;
      any = any || stood.has_value();
    }
  }
  return any;
}

}  // namespace

void MarkStandby(const std::vector<SliceInfo>& slices, bool cohorts_known,
                 std::vector<WorkerInfo>& workers) {
  if (cohorts_known) {
    for (WorkerInfo& worker : workers) {
      worker.standby = !worker.in_named_cohort && ShowsCores(worker) && !HasRun(worker);
    }
    return;
  }
  const std::optional<int64_t> longest = LongestStand(workers);
  if (!longest) return;
  for (const SliceInfo& slice : slices) {
    if (!NeverRan(slice, *longest, workers)) continue;
    for (int i = slice.first; i < slice.last; ++i) workers[static_cast<size_t>(i)].standby = true;
  }
}

}  // namespace rapideye::classifier

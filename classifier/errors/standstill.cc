#include "classifier/errors/standstill.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

int64_t TakeMedian(std::vector<int64_t>& values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<int64_t> LongestStandMs(const Snapshot& snapshot) {
  std::optional<int64_t> longest;
  for (const Core& core : snapshot.cores) {
    if (core.type != CoreType::kTensorCore || core.sequencers.empty()) continue;
    const Sequencer& sequencer = core.sequencers.front();
    const bool runs = sequencer.pc.value_or(0) != 0;
    const std::optional<int64_t> stood =
        sequencer.frozen_ms.has_value() ? sequencer.frozen_ms : core.stuck_ms;
    if (runs && stood && (!longest || *stood > *longest)) longest = stood;
  }
  return longest;
}

Standstill MeasureStandstill(const Topology& topology) {
  Standstill still;
  const int64_t threshold =
      topology.capture().header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
  const auto share_of_threshold = [threshold](double share) {
    return std::max(kAgeErrorMs, static_cast<int64_t>(share * static_cast<double>(threshold)));
  };
  still.wait_before_failing_ms = share_of_threshold(kStepShareOfThreshold);
  still.idle_before_failing_ms = share_of_threshold(kRecentShareOfThreshold);
  // A runtime that is gone reports an earlier time: use it only if all runtimes are gone.
  std::vector<int64_t> stands;
  std::vector<int64_t> stood_before;
  std::vector<int64_t> waits;
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr || worker.standby) continue;
    const bool serves = worker.snapshot->runtime.state == RuntimeState::kServing;
    for (const Core& core : worker.snapshot->cores) {
      if (core.type != CoreType::kTensorCore) continue;
      std::optional<int64_t> stood = core.stuck_ms;
      if (!stood && !core.sequencers.empty()) stood = core.sequencers.front().frozen_ms;
      if (stood) (serves ? stands : stood_before).push_back(*stood);
    }
    if (const auto stood = LongestStandMs(*worker.snapshot)) waits.push_back(*stood);
  }
  if (stands.empty()) stands = std::move(stood_before);
  if (stands.empty()) return still;
  still.still_ms = TakeMedian(stands);
  still.waiting_ms = waits.empty() ? *still.still_ms : TakeMedian(waits);
  return still;
}

}  // namespace rapideye::classifier

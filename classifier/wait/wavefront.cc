#include "classifier/wait/wavefront.h"

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// The core stopped no longer ago than `oldest`, and no shorter than `youngest`.
struct Window {
  int64_t youngest = 0;
  int64_t oldest = 0;
};

// Absent if no poll saw the core come to its place, because then its stop has no upper bound.
std::optional<Window> StopOf(const Core& core) {
  if (core.transitions.empty()) return std::nullopt;
  const Transition& last = core.transitions.back();
  if (!last.within_ms.has_value()) return std::nullopt;
  return Window{last.age_ms, last.age_ms + *last.within_ms};
}

}  // namespace

bool StoppedBefore(const Core& a, const Core& b) {
  const std::optional<Window> first = StopOf(a);
  const std::optional<Window> second = StopOf(b);
  return first && second && first->youngest > second->oldest + kCollectionSpreadMs;
}

std::optional<FirstToStop> FindFirstToStop(const Positions& positions) {
  constexpr int kLeastOthers = 2;
  FirstToStop first;
  std::optional<Window> earliest;
  std::optional<int64_t> next;  // the oldest that any other can have stopped
  int telling = 0;
  for (int i = 0; i < static_cast<int>(positions.units().size()); ++i) {
    const std::optional<Window> stop = StopOf(*positions.unit(i).core);
    if (!stop.has_value()) continue;
    ++telling;
    const bool earlier = !earliest || stop->youngest > earliest->youngest;
    const std::optional<Window>& other = earlier ? earliest : stop;
    if (other && (!next || other->oldest > *next)) next = other->oldest;
    if (!earlier) continue;
    earliest = stop;
    first.unit = i;
  }
  first.others = telling - 1;
  if (!earliest || first.others < kLeastOthers) return std::nullopt;
  first.ahead_ms = earliest->youngest - *next - kCollectionSpreadMs;
  if (first.ahead_ms <= 0) return std::nullopt;
  return first;
}

}  // namespace rapideye::classifier

#include "agent/sources/kernel_log/state.h"

#include <algorithm>
#include <utility>

#include "agent/sources/kernel_log/limits.h"

namespace rapideye::agent {

void KernelLogState::Watching(std::optional<absl::Duration> process_start) {
  if (!process_start.has_value() || process_start == process_start_) return;
  process_start_ = process_start;
  kept_.clear();
}

void KernelLogState::Observe(const KernelLine& line, bool launched, absl::Duration now) {
  if (line.plain_reset && (line.backlog || !launched)) return;
  // What comes in while the process lives may still have been written before it, when
  // both began between two looks.
  if (line.backlog && !process_start_.has_value()) return;
  if (process_start_.has_value()) {
    const absl::Duration error = kKernelClockError + *process_start_ * kKernelClockDrift;
    const absl::Duration earliest =
        line.backlog ? *process_start_ + error : *process_start_ - error;
    if (line.since_boot < earliest) return;
  }
  const auto same = std::find_if(kept_.begin(), kept_.end(),
                                 [&line](const Kept& kept) { return kept.key == line.line.key; });
  if (same != kept_.end()) {
    same->count += 1 + line.line.repeats;
    return;
  }
  // The first ones matter; the rest follows from them.
  if (kept_.size() == kMaxKernelEvents) return;
  kept_.push_back({line.line.event, line.line.key, 1 + line.line.repeats,
                   line.backlog ? std::nullopt : std::optional(now)});
}

void KernelLogState::Describe(Instant now, Snapshot& snapshot) const {
  for (const Kept& kept : kept_) {
    LogEvent event = kept.event;
    event.count = kept.count;
    if (kept.first.has_value()) {
      event.age_ms = std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - *kept.first));
    }
    snapshot.log_events.push_back(std::move(event));
  }
}

}  // namespace rapideye::agent

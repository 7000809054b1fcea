#include "agent/sources/kernel_log/state.h"

#include "agent/sources/kernel_log/limits.h"

namespace rapideye::agent {

void KernelLogState::Watching(std::optional<absl::Duration> process_start) {
  if (!process_start.has_value() || process_start == process_start_) return;
  process_start_ = process_start;
  lines_.lines().clear();
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
  if (lines_.Count(line.line, now)) return;
  // The first ones matter; the rest follows from them.
  if (lines_.lines().size() == kMaxKernelEvents) return;
  lines_.Add(line.line, line.backlog, now);
}

}  // namespace rapideye::agent

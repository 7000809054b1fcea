#include "agent/sources/kernel_log/state.h"

#include "agent/sources/kernel_log/limits.h"

namespace rapideye::agent {

void KernelLogState::Watching(const std::optional<ProcessId>& process) {
  if (!process.has_value()) return;
  const absl::Duration start = absl::Seconds(1) * process->start_ticks / kTicksPerSecond;
  if (start == process_start_) return;
  process_start_ = start;
  pid_ = process->pid;
  lines_.lines().clear();
}

void KernelLogState::Observe(const KernelLogReading& reading, const JobFacts& job,
                             absl::Duration now, Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  notices.warnings.insert(notices.warnings.end(), reading.notes.begin(), reading.notes.end());
  for (const KernelLine& line : reading.lines) Keep(line, job.ever_launched, now);
}

void KernelLogState::AddTo(Snapshot& snapshot, Instant now) const { lines_.AddTo(snapshot, now); }

void KernelLogState::Keep(const KernelLine& line, bool ever_launched, absl::Duration now) {
  // In a PID namespace of its own the training process has a number other than the kernel's.
  if (line.killed.has_value() && line.killed != pid_) return;
  if (line.plain_reset && (line.backlog || !ever_launched)) return;
  // Even a line that arrives while the process lives may be older than the process, if both
  // came about between two looks.
  if (line.backlog && !process_start_.has_value()) return;
  if (process_start_.has_value()) {
    const absl::Duration error = kKernelClockError + *process_start_ * kKernelClockDrift;
    const absl::Duration earliest =
        line.backlog ? *process_start_ + error : *process_start_ - error;
    if (line.since_boot < earliest) return;
  }
  if (lines_.Count(line.line, now)) return;
  // The first lines matter; later ones follow from them.
  if (lines_.lines().size() == kMaxKernelEvents) return;
  lines_.Add(line.line, line.backlog, now);
}

}  // namespace rapideye::agent

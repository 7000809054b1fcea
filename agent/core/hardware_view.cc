#include "agent/core/hardware_view.h"

#include "agent/core/incarnation.h"
#include "agent/sources/kernel_log/limits.h"

namespace rapideye::agent {

void HardwareView::Observe(const HardwareReading& reading, const Job& job, absl::Duration now) {
  if (job.process.has_value()) {
    pcie_.Watching(NameProcess(*job.process));
    kernel_.Watching(absl::Seconds(1) * job.process->start_ticks / kTicksPerSecond);
  }
  if (reading.nics.has_value()) nics_.Observe(*reading.nics, job.last_progress, now);
  if (reading.pcie.has_value()) pcie_.Observe(*reading.pcie);
  if (!reading.kernel_log.has_value()) return;
  for (const KernelLine& line : reading.kernel_log->lines) {
    kernel_.Observe(line, job.launched, now);
  }
}

void HardwareView::Describe(Instant now, Snapshot& snapshot) const {
  nics_.Describe(snapshot);
  pcie_.Describe(snapshot);
  kernel_.Describe(now, snapshot);
}

}  // namespace rapideye::agent

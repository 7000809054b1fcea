// What the kernel's log said of the host's chips since the job started.
#ifndef RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_

#include <optional>

#include "absl/time/time.h"
#include "agent/core/hardware_sample.h"
#include "agent/sources/counted_lines.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Such a line removes a host: what may be of an earlier job, or of a chip that is
// merely being opened, is left out. What counts is kept as long as the process is,
// however long the hang comes after it.
class KernelLogState {
 public:
  // `process_start`: of the training process, since boot; absent: none lives.
  // Another one than before: what was kept is of the earlier one.
  void Watching(std::optional<absl::Duration> process_start);
  // `launched`: the job has launched something on this host.
  void Observe(const KernelLine& line, bool launched, absl::Duration now);

  void Describe(Instant now, Snapshot& snapshot) const { lines_.AddTo(snapshot, now); }

 private:
  std::optional<absl::Duration> process_start_;  // of the last one that was seen
  CountedLines lines_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_

// All that the host's kernel has shown of its hardware so far.
#ifndef RAPIDEYE_AGENT_CORE_HARDWARE_VIEW_H_
#define RAPIDEYE_AGENT_CORE_HARDWARE_VIEW_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/hardware_sample.h"
#include "agent/core/host_sample.h"
#include "agent/sources/kernel_log/state.h"
#include "agent/sources/nic/state.h"
#include "agent/sources/pcie/state.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class HardwareView {
 public:
  // What is known of the job when a look comes in.
  struct Job {
    std::optional<ProcessId> process;  // that lives
    absl::Duration last_progress;
    bool launched = false;
  };

  void Restore(std::optional<CounterBaseline> kept) { pcie_.Restore(std::move(kept)); }
  void Observe(const HardwareReading& reading, const Job& job, absl::Duration now);

  // From where errors of the process are counted; absent: none are.
  std::optional<CounterBaseline> baseline() const { return pcie_.baseline(); }

  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  NicState nics_;
  PcieState pcie_;
  KernelLogState kernel_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_HARDWARE_VIEW_H_

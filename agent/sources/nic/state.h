// Network interfaces of the host, against what they were in health.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/hardware_sample.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class NicState {
 public:
  // What was seen is of health once the job has advanced after it. `last_progress`:
  // of the job, as far as it is known.
  void Observe(const NicReading& reading, absl::Duration last_progress, absl::Duration now);

  // Counts since health. A NIC that had no carrier in health either is left out, and
  // so is one that nobody knows to be more than an unused bridge: it is no evidence.
  void Describe(Snapshot& snapshot) const;

 private:
  using Nics = std::map<std::string, NicSample>;  // by name

  std::optional<Nics> nics_;  // as last seen
  absl::Duration seen_at_;
  std::optional<Nics> healthy_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_

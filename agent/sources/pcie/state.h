// Errors that PCIe counted on the host's chips since the job started.
#ifndef RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_

#include <map>
#include <optional>
#include <string>

#include "agent/core/hardware_sample.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Errors of an earlier job say nothing about this one's hang.
class PcieState {
 public:
  // What an agent before this one began to count from.
  void Restore(std::optional<CounterBaseline> kept) { kept_ = std::move(kept); }

  // The training process is this one (NameProcess); absent: none is known, or it has
  // ended, and the counts of the one before go on.
  void Watching(const std::optional<std::string>& process);
  void Observe(const PcieReading& reading);

  // Absent until a chip was seen.
  std::optional<CounterBaseline> baseline() const;
  void Describe(Snapshot& snapshot) const;

 private:
  std::string process_;
  std::optional<CounterBaseline> kept_;
  std::optional<std::map<int32_t, PcieSample>> baseline_;  // by chip
  std::map<int32_t, PcieSample> chips_;                    // as last seen
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_

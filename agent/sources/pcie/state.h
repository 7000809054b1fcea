// Tracks PCIe error counters of the host's chips since the training process started.
#ifndef RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Counts are since the host started, or since the device was set up.
struct PcieSample {
  int32_t chip = 0;
  int64_t fatal = 0;
  int64_t non_fatal = 0;
  int64_t correctable = 0;

  friend bool operator==(const PcieSample&, const PcieSample&) = default;
};

struct PcieReading {
  std::vector<PcieSample> chips;
  // Why nothing can be said of one chip at least, and what would help; empty: nothing is
  // wrong.
  std::string unavailable;
};

// Errors of an earlier job say nothing about this one's hang. Errors before the agent's first own
// reading are not counted either: what an earlier agent left on disk could be forged.
class PcieState final : public StateOf<PcieReading> {
 public:
  void Observe(const PcieReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Counts begin anew with another process; without one, those of the last go on.
  void Watching(const std::optional<ProcessId>& process) override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  UnavailableWarning unavailable_{"PCIe errors of chips are not known"};
  std::string process_;
  std::optional<std::map<int32_t, PcieSample>> baseline_;  // by chip
  std::map<int32_t, PcieSample> chips_;                    // as last seen
};

struct PcieSource : SourceOf<PcieState, PcieReading> {
  static constexpr char kName[] = "pcie";
  static std::unique_ptr<Fetcher<PcieReading>> MakeFetcher(const HostOptions& options,
                                                           HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PCIE_STATE_H_

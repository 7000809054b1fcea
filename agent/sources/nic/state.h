// NicState compares the host's network interfaces with their state in health.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Counts are since the host started, or since the device was set up.
struct NicSample {
  std::string name;
  bool up = false;        // it has a carrier
  bool physical = false;  // a device of its own, no bridge or tunnel
  std::optional<int64_t> carrier_changes;
  std::optional<int64_t> rx_errors;
  std::optional<int64_t> tx_errors;
};

struct NicReading {
  std::vector<NicSample> nics;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
  // The present addresses of this host for other hosts; absent: not read.
  std::optional<std::vector<wire::HostAddress>> addresses = std::nullopt;
};

class NicState final : public StateOf<NicReading> {
 public:
  // A reading counts as healthy once the job has advanced after it.
  void Observe(const NicReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Counts since health. Leaves out a NIC that had no carrier in health either, and one
  // that may be an unused bridge: they are no evidence.
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  using Nics = std::map<std::string, NicSample>;  // by name

  UnavailableWarning unavailable_{"nothing is known of network interfaces"};
  std::optional<Nics> nics_;  // as last seen
  absl::Duration seen_at_;
  std::optional<Nics> healthy_;
};

struct NicSource : SourceOf<NicState, NicReading> {
  static constexpr char kName[] = "nic";
  static std::unique_ptr<Fetcher<NicReading>> MakeFetcher(const HostOptions& options,
                                                          HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_STATE_H_

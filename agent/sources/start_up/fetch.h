// Watches the start-up of the training process in /proc, /sys and /dev.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/source.h"
#include "agent/sources/start_up/state.h"

namespace rapideye::agent {

// Reads phases and obstacles while the job starts, settings in looks at a hang. Not
// synchronised.
class StartUpFetcher final : public Fetcher<StartUpReading> {
 public:
  explicit StartUpFetcher(const HostOptions& options);

  std::optional<StartUpReading> Fetch(const HostLook& look, absl::Duration now,
                                      HostFindings& found) override;

 private:
  void LearnPorts(const ProcessSample& process);
  bool IsJoined(int64_t pid, const HostFindings& found) const;

  const std::string proc_root_;
  const std::string sys_root_;
  const std::string dev_root_;
  std::optional<uint16_t> runtime_port_;  // of a command that the agent has started
  std::optional<ProcessId> learnt_from_;
  std::set<uint16_t> ports_;
  uint16_t coordination_port_;
  absl::Duration next_search_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_H_

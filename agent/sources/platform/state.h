// PlatformState keeps the events that a cloud, cluster or scheduler reports of this host.
#ifndef RAPIDEYE_AGENT_SOURCES_PLATFORM_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PLATFORM_STATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// A platform reports PREEMPTED (it takes or took the host away), HOST_CRASH (it holds the host for
// failed), HOST_OOM or HUNG_TASK.
struct PlatformEvent {
  LogKind kind = LogKind::kUnspecified;
  std::string text;
  // Time since the event, by the platform's clock; absent: the state holds now.
  std::optional<absl::Duration> age;
};

struct PlatformReading {
  std::vector<PlatformEvent> events;
  // Names the platforms that did not answer, why, and what would help; empty: all answered.
  std::string unavailable;
};

class PlatformState final : public StateOf<PlatformReading> {
 public:
  void Observe(const PlatformReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Adds events that are no older than kKeepPlatformEvents, of any process: a preemption ends the
  // process that it concerns.
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  struct Seen {
    PlatformEvent event;
    absl::Duration first;
    absl::Duration last;
  };

  UnavailableWarning unavailable_{"a part of what the platform says is not known"};
  std::vector<Seen> seen_;
};

struct PlatformSource : SourceOf<PlatformState, PlatformReading> {
  static constexpr char kName[] = "platform";
  // Null unless HostOptions names a platform to ask.
  static std::unique_ptr<Fetcher<PlatformReading>> MakeFetcher(const HostOptions& options,
                                                               HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PLATFORM_STATE_H_

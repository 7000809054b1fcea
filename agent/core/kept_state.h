// KeptState passes from an agent to the next one of the same worker.
#ifndef RAPIDEYE_AGENT_CORE_KEPT_STATE_H_
#define RAPIDEYE_AGENT_CORE_KEPT_STATE_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/pcie/state.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

struct KeptState {
  // On the monotonic clock, which all processes of one boot of a host share.
  absl::Duration kept_at;
  // Who kept it, and the incident that it remembered.
  wire::Hello hello;
  // What it would have shown of a worker that stood still, HLO included.
  std::optional<Snapshot> snapshot;
  // From where the errors of its chips are counted.
  std::optional<CounterBaseline> counters;
  // Raised, and told to nobody.
  std::vector<wire::Alarm> alarms;

  // True if there is nothing worth keeping.
  bool Empty() const {
    return !hello.incident.has_value() && !snapshot.has_value() && !counters.has_value() &&
           alarms.empty();
  }
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_KEPT_STATE_H_

// Probes other workers of the job, on request of the coordinator.
#ifndef RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/probe/state.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

struct ProbeOptions {
  uint16_t port = 0;    // at the peers, TCP and UDP; the same for every worker of a job
  absl::Duration time;  // for all probes, which are made at once
};

// Blocks until all probes are answered or `time` has passed. Targets are taken as they are:
// who may be probed, and how many, is the caller's to check. Needs no privilege. A probe that
// could not be tried, for reasons of this host alone, is left out, and the reading says so.
ProbeReading ProbeAll(const std::vector<wire::ProbeTarget>& targets, const ProbeOptions& options);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_H_

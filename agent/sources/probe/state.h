// Declares the results of probes of other workers. They go to the coordinator that asked for them,
// and are not kept (agent/core/probe_duty.h).
#ifndef RAPIDEYE_AGENT_SOURCES_PROBE_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PROBE_STATE_H_

#include <string>
#include <vector>

#include "agent/sources/source.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct ProbeReading {
  std::vector<Probe> probes;  // those that could be made
  std::string unavailable;    // why others could not; empty: all could
};

struct ProbeSource : SourceOf<NoState<ProbeReading>, ProbeReading> {
  static constexpr char kName[] = "probe";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROBE_STATE_H_

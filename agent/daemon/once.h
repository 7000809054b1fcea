// Implements rapideye-agent --once: samples this host once.
#ifndef RAPIDEYE_AGENT_DAEMON_ONCE_H_
#define RAPIDEYE_AGENT_DAEMON_ONCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/core/agent_core.h"
#include "agent/daemon/host_sources.h"
#include "agent/sources/log/fetch.h"
#include "proto/common/secrets/redactor.h"

namespace rapideye::agent {

// Samples every source once and returns the snapshot as one line of a capture,
// without its newline. A runtime that is absent or does not answer is part of
// the snapshot, and no error. Of the logs the end is read. Secrets are blotted out.
absl::StatusOr<std::string> SampleOnce(AgentSettings settings, const HostOptions& host,
                                       LogOptions logs = {}, const std::string& hlo_dump_dir = "",
                                       const secrets::Redactor& redactor = {});

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_ONCE_H_

// Flags declares the flags of rapideye-agent.
#ifndef RAPIDEYE_AGENT_DAEMON_FLAGS_H_
#define RAPIDEYE_AGENT_DAEMON_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/daemon/host_sources.h"
#include "agent/sources/identity/identity.h"
#include "agent/sources/log/fetch.h"
#include "agent/sources/probe/limits.h"
#include "proto/common/file/trusted_directory.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/secrets/redactor.h"
#include "proto/transport/credentials.h"

namespace rapideye::agent {

struct Flags {
  IdentityFlags identity;
  HostOptions host;
  LogOptions logs;
  std::string log_signatures;
  std::vector<std::string> redact;
  std::optional<secrets::Redactor> redactor;  // follows from `redact`: set by Check
  std::string hlo_dump_dir;
  std::vector<std::string> peers;
  std::vector<std::string> disable;
  std::vector<std::string> platforms;
  std::string peer_address_template;
  int32_t probe_port = kProbePort;
  transport::CredentialOptions credentials;
  absl::Duration poll_interval = absl::Seconds(5);
  std::optional<int32_t> metrics_port;
  std::string metrics_address = "127.0.0.1";
  std::string state_dir = file::PrivateDirectory("rapideye-agent");
  std::string log_format = "text";
  std::string exec_log;
  bool once = false;
  std::vector<std::string> command;  // of `exec`; empty: the agent starts none
};

// Adds the flags; each can be set in the environment (proto/common/flags/command_line.h).
void AddFlags(CLI::App& app, Flags& flags);

// Makes the checks that the parser cannot: INVALID_ARGUMENT names the flag and its valid values.
// Fills in the settings that follow from several flags.
absl::Status Check(Flags& flags);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_FLAGS_H_

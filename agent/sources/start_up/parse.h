// Parses the kernel's files about rights and connections of a process.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_PARSE_H_

#include <cstdint>
#include <optional>
#include <set>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// The rights by which a process opens files.
struct Rights {
  uint32_t user = 0;
  std::set<uint32_t> groups;  // all of them
  bool passes_modes = false;  // CAP_DAC_OVERRIDE: the modes of files do not concern it
};

// The rights in the text of /proc/PID/status; absent if it does not tell them.
std::optional<Rights> ParseRights(absl::string_view status);

// True if these rights suffice to open a file for reading and writing, by its mode alone.
bool MayOpen(const Rights& rights, uint32_t mode, uint32_t owner, uint32_t group);

// Inodes of the established connections to that port, from the text of /proc/PID/net/tcp or tcp6.
std::set<uint64_t> ConnectionsTo(absl::string_view table, uint16_t port);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_PARSE_H_

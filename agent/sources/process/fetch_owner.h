// Tells whose a process is, and since when it runs.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OWNER_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OWNER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "agent/sources/source.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Milliseconds since its start. Absent: the clock of its start is not this one's.
std::optional<int64_t> AgeMs(const ProcessId& process);

// The user of a process: by name if /etc/passwd has it, else by number. Absent: it has ended.
// Asks no directory service, which may hang with the network.
std::optional<std::string> OwnerOf(const std::string& proc_root, int64_t pid);

// Sets user and age, as far as they are known.
void DescribeOwner(const std::string& proc_root, const ProcessId& id, Process& process);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OWNER_H_

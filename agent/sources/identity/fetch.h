// Reads the firmware's tables that identify this machine.
#ifndef RAPIDEYE_AGENT_SOURCES_IDENTITY_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_IDENTITY_FETCH_H_

#include <optional>
#include <string>

namespace rapideye::agent {

// The serial number of the machine, or of its board, below `sys_root` (normally
// "/sys"); the kernel shows it to root alone. Absent: it may not be read, or says nothing.
std::optional<std::string> ReadSerial(const std::string& sys_root);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_IDENTITY_FETCH_H_

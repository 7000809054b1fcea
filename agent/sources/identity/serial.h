// Extracts a machine's serial number from firmware tables; placeholders count as absent.
#ifndef RAPIDEYE_AGENT_SOURCES_IDENTITY_SERIAL_H_
#define RAPIDEYE_AGENT_SOURCES_IDENTITY_SERIAL_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// The text of a file such as /sys/class/dmi/id/product_serial. Absent if it is a
// placeholder, which many machines have in common: a history must not take them for the
// same machine.
std::optional<std::string> ParseSerial(absl::string_view text);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_IDENTITY_SERIAL_H_

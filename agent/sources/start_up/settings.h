// Picks the settings of a training process that should be the same on all workers out of its
// environment, and the versions of its packages out of their folders.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_SETTINGS_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_SETTINGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Hashes a value with the salt of a collection, in hexadecimal digits. Empty: there is no salt.
using SettingHash = std::function<std::string(absl::string_view value)>;

// Variables MEGASCALE_*, TPU_*, JAX_*, XLA_*, LIBTPU_* and PJRT_* of an environment as /proc has
// it, and each flag of XLA_FLAGS and LIBTPU_INIT_ARGS by itself; sorted, at most kMaxSettings. A
// value is told as it is only if its name is known to hold no secret, or if it is a number or a
// truth value, and never if name or value look like a secret; others are told by their hash, or
// by the name alone if there is no salt.
std::vector<Setting> SettingsOf(absl::string_view environment, const SettingHash& hash);

// The value of a variable; absent: it is not set.
std::optional<std::string> Variable(absl::string_view environment, absl::string_view name);

// The port to which the worker's connection to the coordination service goes.
uint16_t CoordinationPort(absl::string_view environment);
// Ports on which the environment tells this very process to listen.
std::set<uint16_t> OwnPorts(absl::string_view environment);

// Folders of Python packages from which the process has mapped a library, by the text of its
// /proc/PID/maps.
std::set<std::string> PackageFolders(absl::string_view maps);
// The version by the name of an entry in such a folder, such as "jaxlib-0.4.35.dist-info".
// Absent: of no package on which workers have to agree.
std::optional<Setting> PackageVersion(absl::string_view entry);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_SETTINGS_H_

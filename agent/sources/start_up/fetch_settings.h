// Reads the environment and the package versions of the training process.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_SETTINGS_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/sources/start_up/settings.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// HMAC-SHA-256 with the salt, cut to kSettingHashDigits; empty if the salt is.
SettingHash SaltedHash(const std::string& salt);

// The environment that the process was started with, as /proc has it. Absent: the process has
// ended, or is another user's. Holds secrets: not to be logged or sent.
std::optional<std::string> ReadEnvironment(const std::string& proc_root, int64_t pid);

// Settings of the environment, and versions of the packages that the process uses, by the
// names of their folders. Reads only; absent if the environment cannot be read.
std::optional<std::vector<Setting>> ReadSettings(const std::string& proc_root, int64_t pid,
                                                 const SettingHash& hash);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_SETTINGS_H_

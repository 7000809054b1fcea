// Limits bound the cost of watching the start-up of a training process.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// The environment, to which the kernel gives at most a quarter of a process's stack, 2 MiB usually.
inline constexpr size_t kMaxEnvironmentBytes = 2 * 1024 * 1024;
// A process with all libraries of JAX has some thousand mappings.
inline constexpr size_t kMaxMapsBytes = 2 * 1024 * 1024;
// The connections of a host that starts; one with more has them for something else.
inline constexpr size_t kMaxConnectionTableBytes = 1024 * 1024;

// A job sets some dozens of variables and flags.
inline constexpr size_t kMaxSettings = 256;
inline constexpr size_t kMaxSettingNameBytes = 128;
// Longer values, such as lists of hosts, are told by their hash.
inline constexpr size_t kMaxSettingValueBytes = 256;
// Hexadecimal digits of a hash: enough to tell a job's few values apart, and too few to tell the
// value that a guess is from the many that share its hash.
inline constexpr size_t kSettingHashDigits = 8;

inline constexpr size_t kMaxObstacles = 16;
// The search for obstacles goes through all descriptors of the host.
inline constexpr absl::Duration kObstacleSpacing = absl::Seconds(30);
inline constexpr absl::Duration kPortSearchDeadline = absl::Milliseconds(100);

// The training processes of one job start on a host within less than this.
inline constexpr int64_t kSameStartMs = 60'000;

// The port of JAX's coordination service unless JAX_COORDINATOR_ADDRESS says otherwise.
inline constexpr uint16_t kCoordinationPort = 8476;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_LIMITS_H_

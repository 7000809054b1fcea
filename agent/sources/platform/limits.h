// Limits bound the questions to the platform, and its answers.
#ifndef RAPIDEYE_AGENT_SOURCES_PLATFORM_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_PLATFORM_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// Ten thousand agents ask one API server: three small requests each in this time.
inline constexpr absl::Duration kPlatformSpacing = absl::Seconds(30);
// Bounds of one answer.
inline constexpr absl::Duration kPlatformDeadline = absl::Seconds(5);
// A look that is the only one waits for all answers together at most so long.
inline constexpr absl::Duration kPlatformPatience = absl::Seconds(15);
// A node with its images takes some dozen KiB, an event one.
inline constexpr size_t kMaxPlatformAnswerBytes = 1024 * 1024;
inline constexpr size_t kMaxPlatformEvents = 32;
inline constexpr size_t kMaxPlatformTextBytes = 512;
// An older event of the platform belongs to another incident.
inline constexpr absl::Duration kKeepPlatformEvents = absl::Hours(1);
inline constexpr size_t kMaxTokenBytes = 16 * 1024;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PLATFORM_LIMITS_H_

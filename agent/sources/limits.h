// Bounds what several sources share, each limit with its reason.
#ifndef RAPIDEYE_AGENT_SOURCES_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// Fingerprints are 16 or 32 bytes.
inline constexpr size_t kMaxFingerprintBytes = 64;
// Names of instructions and modules.
inline constexpr size_t kMaxNameBytes = 256;
// Text of a runtime's or coordinator's error that is passed on.
inline constexpr size_t kMaxDetailBytes = 512;
// Names of commands: the kernel takes 15 bytes, and of its own threads up to 63.
inline constexpr size_t kMaxCommandBytes = 64;
// Enough for one line of numbers and a name.
inline constexpr size_t kMaxProcFileBytes = 4 * 1024;
// The host answers at once; a poll waits this much longer for its reading than for the
// runtime's, and not at all while an earlier reading is owing.
inline constexpr absl::Duration kHostGrace = absl::Milliseconds(300);
// A file of /sys: a number, a word, or a table of counters.
inline constexpr size_t kMaxSysFileBytes = 4 * 1024;
// The kernel answers from memory, in well under a millisecond for each.
inline constexpr absl::Duration kCounterDeadline = absl::Milliseconds(200);
// Interval at which counters are read in health, for a baseline: an error is evidence even if
// it may have occurred a minute or five before the hang.
inline constexpr absl::Duration kCounterSpacing = absl::Minutes(5);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LIMITS_H_

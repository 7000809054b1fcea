// Bounds reading of training logs, and what of them is remembered.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Read at a time, and at most in one look. 100,000 lines a second are some 8 MiB a
// look; twice that costs a tenth of a core, and a log that grows faster still is
// skipped to near its end, where the last words of a process stand.
inline constexpr size_t kLogReadBytes = 256 * 1024;
inline constexpr int64_t kMaxLogBacklogBytes = 16 * 1024 * 1024;
// The last bytes read, by which a file that was truncated and has grown again is
// told from one that only grew.
inline constexpr size_t kLogTailBytes = 64;
// Files that one agent follows.
inline constexpr size_t kMaxLogFiles = 64;
// Entries of directories that one search of a pattern looks at. A directory of a job that runs wild
// may hold millions, which would take the agent's memory every two seconds.
inline constexpr int kMaxSearchedEntries = 20'000;
// Interval at which followed files are checked for growth, two system calls each; also files
// whose growth the kernel does not report.
inline constexpr absl::Duration kLogPoll = absl::Milliseconds(500);
// The same for all other files: the kernel may have missed a change.
inline constexpr absl::Duration kLogCheck = absl::Seconds(5);
// Longest wait for the first look: an agent whose log files do not answer starts all the same.
inline constexpr absl::Duration kFirstLogLook = absl::Seconds(1);
// Interval of the search of patterns for new files that the kernel does not report.
inline constexpr absl::Duration kLogSearch = absl::Seconds(2);
// Distinct events that are remembered, and for how long after the last of each.
inline constexpr size_t kMaxLogEvents = 64;
inline constexpr absl::Duration kKeepLogEventsFor = absl::Hours(1);
// A process's last words are read this long after its end, at most.
inline constexpr absl::Duration kFinalLinesDelay = absl::Seconds(1);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_LIMITS_H_

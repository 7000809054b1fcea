// Bounds reading of the page that the training loop writes (agent/progress).
#ifndef RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Reads of a page that is being written all the time: a write takes nanoseconds.
inline constexpr int kProgressPageTries = 16;
// The clock is the same; a time that is later than now by more than this was not read from it.
inline constexpr absl::Duration kProgressClockSlack = absl::Seconds(1);

// The largest number of a device: more than the largest job has, and JAX leaves room between
// slices.
inline constexpr int64_t kMaxDeviceNumber = int64_t{1} << 40;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_LIMITS_H_

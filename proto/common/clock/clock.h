// Clock reads the clocks of this machine. Thread-safe.
#ifndef RAPIDEYE_PROTO_COMMON_CLOCK_CLOCK_H_
#define RAPIDEYE_PROTO_COMMON_CLOCK_CLOCK_H_

#include "absl/time/time.h"
#include "proto/common/time/instant.h"

namespace rapideye {

// Reads both clocks, one after the other.
Instant CurrentInstant();

// The steady clock alone (CLOCK_MONOTONIC): its epoch is that of std::chrono::steady_clock.
absl::Duration MonotonicTime();

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_CLOCK_CLOCK_H_

#include "proto/common/clock/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace rapideye {

Instant CurrentInstant() { return {.monotonic = MonotonicTime(), .wall = absl::Now()}; }

absl::Duration MonotonicTime() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace rapideye

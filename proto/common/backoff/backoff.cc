#include "proto/common/backoff/backoff.h"

#include <algorithm>

namespace rapideye {

absl::Duration Backoff::Next() {
  const absl::Duration delay = next_;
  next_ = std::min(next_ * 2, longest_);
  return delay;
}

absl::Duration JitteredBackoff::Jittered(absl::Duration delay) {
  constexpr int64_t kSteps = 1 << 20;
  const auto step = static_cast<int64_t>(Random() % kSteps);
  return delay / 2 + delay / 2 * step / kSteps;
}

// SplitMix64: neighbouring seeds give unrelated numbers.
uint64_t JitteredBackoff::Random() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace rapideye

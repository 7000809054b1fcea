// Backoff states how long to wait before the next attempt at something that failed. Pure.
#ifndef RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_
#define RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_

#include <cstdint>

#include "absl/time/time.h"

namespace rapideye {

// Doubles from `first` to `longest`.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration longest)
      : first_(first), longest_(longest), next_(first) {}

  absl::Duration Next();
  // The next delay is the first one again.
  void Reset() { next_ = first_; }

 private:
  absl::Duration first_;
  absl::Duration longest_;
  absl::Duration next_;
};

// The same with each delay jittered between its half and its whole, so that thousands of agents
// that lost their coordinator at once do not come back at once. The same seed gives the same
// delays.
class JitteredBackoff {
 public:
  JitteredBackoff(uint64_t seed, absl::Duration first, absl::Duration longest)
      : state_(seed), delays_(first, longest) {}

  absl::Duration Next() { return Jittered(delays_.Next()); }
  // `delay`, jittered the same way.
  absl::Duration Jittered(absl::Duration delay);
  void Reset() { delays_.Reset(); }

 private:
  uint64_t Random();

  uint64_t state_;
  Backoff delays_;
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_

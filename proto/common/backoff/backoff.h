// How long to wait before the next attempt to reach the coordinator.
#ifndef RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_
#define RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_

#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Doubles from `first` to `longest`; each delay is jittered between half of it
// and all of it, so that thousands of agents that lost their coordinator at
// once do not come back at once. The same seed gives the same delays.
class Backoff {
 public:
  Backoff(uint64_t seed, absl::Duration first, absl::Duration longest);

  absl::Duration Next();
  // `delay`, jittered the same way.
  absl::Duration Jittered(absl::Duration delay);
  // The next delay is the first one again.
  void Reset();

 private:
  uint64_t Random();

  uint64_t state_;
  absl::Duration first_;
  absl::Duration longest_;
  absl::Duration next_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_PROTO_COMMON_BACKOFF_BACKOFF_H_

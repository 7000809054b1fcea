// Instant holds the two clocks of one moment.
#ifndef RAPIDEYE_PROTO_COMMON_TIME_INSTANT_H_
#define RAPIDEYE_PROTO_COMMON_TIME_INSTANT_H_

#include "absl/time/time.h"

namespace rapideye {

// The cores take it as an argument; proto/common/clock reads it from the machine.
struct Instant {
  // Since an arbitrary origin of this machine; never goes back. Every age, deadline and
  // decision comes from it.
  absl::Duration monotonic;
  // For people to read: printed and stored, never compared. May be stepped at any time.
  absl::Time wall;
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_TIME_INSTANT_H_

// DigestTimes states how long it took to come to a digest.
#ifndef RAPIDEYE_COORDINATOR_STORE_DIGEST_TIMES_H_
#define RAPIDEYE_COORDINATOR_STORE_DIGEST_TIMES_H_

#include <optional>

#include "absl/time/time.h"

namespace rapideye::coordinator {

struct DigestTimes {
  std::optional<absl::Duration> detection;  // Conclude::detection
  absl::Duration collection;                // from the alarm to the last answer
  absl::Duration digest;                    // from then until the digest was in the log
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_DIGEST_TIMES_H_

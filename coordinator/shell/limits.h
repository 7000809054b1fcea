// Limits of the coordinator's shell, with their reasons. Those of its decisions:
// coordinator/core/limits.h.
#ifndef RAPIDEYE_COORDINATOR_SHELL_LIMITS_H_
#define RAPIDEYE_COORDINATOR_SHELL_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// Streams at once: a job of 10,000 hosts, each with an old half-open connection
// beside its new one. Descriptors allow hardly more.
inline constexpr size_t kMaxStreams = 20'000;
// Messages that wait for the core. At most one per stream waits, so this bites
// only when thousands send their largest message together, unasked.
inline constexpr int64_t kMaxQueuedBytes = int64_t{256} << 20;
// Commands that wait for one agent to read. An incident sends it fewer than ten.
inline constexpr size_t kMaxSendQueue = 32;
// A stream that was closed and does not even read that is cut off after this.
inline constexpr absl::Duration kCloseGrace = absl::Seconds(2);
// SIGTERM ends the program within 5 s (contract): so long for the incident in
// progress, then for the streams.
inline constexpr absl::Duration kStopIncident = absl::Seconds(3);
inline constexpr absl::Duration kStopStreams = absl::Milliseconds(500);
// A disk that takes longer does not hold up the digest in the log.
inline constexpr absl::Duration kDiskPatience = absl::Seconds(1);
// Incidents that wait for a disk that hangs. Those beyond reach the log only.
inline constexpr size_t kMaxPendingWrites = 4;

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_LIMITS_H_

// Bounds probes of other workers, which only a coordinator asks for.
#ifndef RAPIDEYE_AGENT_SOURCES_PROBE_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_PROBE_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Whatever a coordinator asks, others are not probed more often.
inline constexpr absl::Duration kProbeRequestSpacing = absl::Seconds(1);
// The port to probe: the slice builder's, which firewalls between the hosts of a TPU
// job let through. Nothing needs to listen there, since a refusal is an answer.
inline constexpr uint16_t kProbePort = 8471;
// A packet may get lost on a link that is sound: so many tries, so far apart, which no
// round trip inside a region exceeds. All are made, and answered, within a time that
// does not hold up the digest.
inline constexpr int kProbeTries = 3;
inline constexpr absl::Duration kProbeSpacing = absl::Milliseconds(250);
inline constexpr absl::Duration kProbeTime = absl::Milliseconds(800);
// A peer that has answered a SYN, but no datagram within this, never will.
inline constexpr absl::Duration kDatagramPatience = absl::Milliseconds(400);
// The prober always answers; should it not, it is taken for gone after this.
inline constexpr absl::Duration kLostProbeGrace = absl::Seconds(5);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROBE_LIMITS_H_

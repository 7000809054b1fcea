// Bounds the listing of TCP connections.
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// Connections of a host, of which only those to other workers are kept.
inline constexpr size_t kMaxConnections = 200'000;
// Sockets of a snapshot, fullest send queues first: broken links are among them.
inline constexpr size_t kMaxSockets = 1'024;
// Listing a thousand connections takes a millisecond.
inline constexpr absl::Duration kSocketDeadline = absl::Milliseconds(500);
// Polls per listing of connections in health.
inline constexpr int kPollsPerSocketLook = 4;
// The same while nothing moves, though polls may be faster.
inline constexpr absl::Duration kSocketSpacing = absl::Seconds(1);
// Between two looks, the latter of which shows that the process has no connection, its end is
// noticed, if it has ended.
inline constexpr absl::Duration kEndNoticedWithin = absl::Seconds(10);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_LIMITS_H_

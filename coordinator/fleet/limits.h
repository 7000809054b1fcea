// Every limit of the fleet history and of removal, with its reason: they run in a
// coordinator, and in `rapideye remover`.
#ifndef RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_
#define RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// For one statement, or one connection, of a database. Nobody waits for it but the
// thread that keeps the history, so it may be generous to a server under load.
inline constexpr absl::Duration kHistoryPatience = absl::Seconds(10);
// One text in the history: names as the digest shows them.
inline constexpr size_t kMaxHistoryText = 256;
// The digest that a hook gets from the history; one that is larger it reads from the
// incident's files.
inline constexpr size_t kMaxHistoryDigest = size_t{1} << 20;
// A reason, or what a hook printed.
inline constexpr size_t kMaxHistorySentence = 4096;
// Culprits of one incident that are remembered. A verdict that names more names a
// failure of something larger than machines, which no removal mends.
inline constexpr size_t kMaxRememberedCulprits = 1000;
// Events that bear on one decision; a machine that has more was decided about long ago.
inline constexpr int64_t kMaxEventsPerDecision = 2'000;
// Findings decided about in one turn: the next turn takes the rest.
inline constexpr int64_t kMaxFindingsPerTurn = 1000;

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_

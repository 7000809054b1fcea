// Limits bound the fleet history and removal, each limit with its reason: both run in a
// coordinator, and in `rapideye remover`.
#ifndef RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_
#define RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// Patience with one statement, or one connection, of a database. Only the thread that keeps the
// history waits for it, but a program has to end within 5 s of a SIGTERM.
inline constexpr absl::Duration kHistoryPatience = absl::Seconds(3);
// Bytes of one text in the history: names as the digest shows them.
inline constexpr size_t kMaxHistoryText = 256;
// Largest digest that a hook gets from the history; a hook reads a larger one from the incident's
// files.
inline constexpr size_t kMaxHistoryDigest = size_t{1} << 20;
// Bytes of a reason, or of the output of a hook.
inline constexpr size_t kMaxHistorySentence = 4096;
// Culprits of one incident that are remembered. A verdict with more culprits names a failure of
// something larger than machines, which no removal mends.
inline constexpr size_t kMaxRememberedCulprits = 1000;
// Events that bear on one decision. A machine with more events is not removed by repetition: the
// events that are left out could exonerate it.
inline constexpr int64_t kMaxEventsPerDecision = 2'000;
// Largest number of hosts or slices of a job that is believed: more than any job has.
inline constexpr int64_t kMaxRememberedHosts = 20'000;
// Findings decided about in one turn: the next turn takes the others.
inline constexpr int64_t kMaxFindingsPerTurn = 1000;
// Findings of one role that does not own the history: its flood delays no other role's findings.
inline constexpr int64_t kMaxFindingsPerRole = 100;
// A time further ahead of the database's clock was written by a wrong clock, and counts for
// nothing. Honest clocks are set by NTP, to the second.
inline constexpr absl::Duration kLargestClockError = absl::Hours(1);
// Interval at which incidents older than the retention are deleted, and their number at once: the
// lock must not be held for long.
inline constexpr absl::Duration kRetentionPoll = absl::Hours(1);
inline constexpr int64_t kMaxDroppedIncidents = 200;

// Time between two tries at a history that is down: short at first, since most restart at once,
// then longer, for as long as it takes.
inline constexpr absl::Duration kFirstHistoryRetry = absl::Seconds(1);
inline constexpr absl::Duration kLongestHistoryRetry = absl::Minutes(1);
// Interval at which a remover looks for new incidents of others in the history, and for a breaker
// that was closed: an incident has cost minutes already.
inline constexpr absl::Duration kRemovalPoll = absl::Seconds(10);
// Time that a remover needs, beyond a hook's own, to record the hook's outcome.
inline constexpr absl::Duration kHookLeaseSlack = absl::Seconds(10);
// A hook that fails is tried so often, within some twenty minutes, then an operator has to act.
inline constexpr int64_t kMaxHookAttempts = 8;
inline constexpr absl::Duration kFirstHookRetry = absl::Seconds(10);
inline constexpr absl::Duration kLongestHookRetry = absl::Minutes(10);
// A hook that was begun in time is not tried again so long after its removal expired: by then
// people have looked after the machine.
inline constexpr absl::Duration kLongestHookDelay = absl::Hours(24);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_LIMITS_H_

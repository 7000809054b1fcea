// Bounds what stands beside a command that the agent starts (exec).
#ifndef RAPIDEYE_AGENT_EXEC_LIMITS_H_
#define RAPIDEYE_AGENT_EXEC_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// The ring of one output holds kOutputRingBytes for the agent and is filled by pieces (a pipe holds
// as much as one piece). The third bound wakes the agent: 150 ms are left to it at 20 MB/s, on a
// host whose cores are all busy.
inline constexpr size_t kOutputRingBytes = 4 * 1024 * 1024;
inline constexpr size_t kOutputPieceBytes = 64 * 1024;
inline constexpr size_t kOutputWakeBytes = 1024 * 1024;
// An agent or relay that dies is started again, at once the first time, less and less
// often if it goes on dying.
inline constexpr absl::Duration kFirstRestart = absl::Seconds(1);
inline constexpr absl::Duration kSlowestRestart = absl::Minutes(1);
// After the command's end, output that others still hold open is passed on for as long
// as it moves.
inline constexpr absl::Duration kDrainPatience = absl::Seconds(5);
// Time for which the agent stays after the command's end, until a coordinator has learnt of it and
// collected; and a shorter time if the command was told to end: the sender of the signal waits.
inline constexpr absl::Duration kFinalReportFor = absl::Seconds(5);
inline constexpr absl::Duration kFinalReportIfTold = absl::Seconds(2);
// A log of the agent that is larger than this at its start is renamed.
inline constexpr int64_t kMaxExecLogBytes = 16 * 1024 * 1024;
// A line without a reader within this time is lost.
inline constexpr int kSaySeconds = 5;
// After that time the agent may take this much longer to end before it is killed.
inline constexpr absl::Duration kAgentEndGrace = absl::Seconds(2);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_LIMITS_H_

// Bounds stacks of the training process: the tools' time and output, what a snapshot
// carries.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// Stacks of the training process: the tools need a tenth of a second for a small
// process, and longer for hundreds of threads. They have less than a coordinator allows
// for collecting, and what is not there in time is left out.
inline constexpr absl::Duration kStackDeadline = absl::Seconds(2);
// To look at a process holds it up, however shortly: a coordinator that names one
// incident after the other gets no more than this.
inline constexpr absl::Duration kStackSpacing = absl::Minutes(1);
// Processor time of one tool, which the kernel enforces even without the agent.
inline constexpr unsigned long kToolCpuSeconds = 10;
// A thousand threads of 48 frames.
inline constexpr size_t kMaxToolBytes = 4 * 1024 * 1024;
inline constexpr size_t kMaxThreadsRead = 2'048;
// Bytes of all stacks in a snapshot, in which threads with equal stacks are
// one entry: there may be ten thousand workers.
inline constexpr size_t kMaxStackBytes = 16 * 1024;
inline constexpr size_t kMaxStacks = 24;
// Recursion, or a library's layers: inner frames show what a thread waits for.
inline constexpr size_t kMaxStackFrames = 48;
// C++ names may be longer; their beginning says most.
inline constexpr size_t kMaxStackFrameBytes = 160;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_LIMITS_H_

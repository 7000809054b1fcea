// Limits bound stacks of the training process: the tools' time and output, the stacks in a
// snapshot.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace rapideye::agent {

// Python's stacks of the process and its children together: py-spy needs 0.06 s for each
// in health, and several times that on a loaded machine. What is not there in time is left
// out.
inline constexpr absl::Duration kPythonDeadline = absl::Seconds(3);
// Native frames of the main thread: eu-stack needs 0.6 s of processor time beside jaxlib.
inline constexpr absl::Duration kNativeDeadline = absl::Seconds(3);
// A main thread that has run within this time may be one that advances.
inline constexpr absl::Duration kIdleLook = absl::Seconds(1);
// The three waits together: less than a coordinator allows for collecting.
inline constexpr absl::Duration kStackDeadline = absl::Seconds(7);
// The main thread stands this long at most for its native frames (five milliseconds beside jaxlib):
// a tracer that takes longer is killed, and the thread runs on.
inline constexpr absl::Duration kMaxHold = absl::Milliseconds(900);
inline constexpr absl::Duration kHoldLook = absl::Milliseconds(20);
// Time between two looks that stop a thread, which hold its process up however shortly: a
// coordinator that names one incident after the other gets no more.
inline constexpr absl::Duration kStackSpacing = absl::Minutes(1);
// Time between two readings, which cost processor time only. A second look for an operator within
// this time is of the same snapshot.
inline constexpr absl::Duration kStackReadSpacing = absl::Seconds(5);
// Snapshots of a job that advances tell its stacks for so long: as long as a collection lasts.
inline constexpr absl::Duration kStackHold = absl::Seconds(10);
// Loaders have a process per core at most, which stand alike.
inline constexpr size_t kMaxChildrenRead = 16;
// Processor time of one tool, which the kernel enforces even without the agent.
inline constexpr unsigned long kToolCpuSeconds = 10;
// Output of a tool: a thousand threads of 48 frames.
inline constexpr size_t kMaxToolBytes = 4 * 1024 * 1024;
// Error text of a tool, of which the last part is kept.
inline constexpr size_t kMaxErrorBytes = 16 * 1024;
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

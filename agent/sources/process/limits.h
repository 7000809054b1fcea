// Bounds the search for the training process and for other holders of its chips.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Bytes of a table of sockets: listening ones come first, and no training host has more of them.
inline constexpr size_t kMaxSocketTableBytes = 1024 * 1024;
// Descriptors of one process: more than its limit usually allows.
inline constexpr size_t kMaxDescriptorsSearched = 65'536;
// A search through all processes of a host takes milliseconds; on one with very
// many it is given up, and begun again no sooner than this.
inline constexpr absl::Duration kProcessSearchDeadline = absl::Seconds(1);
inline constexpr absl::Duration kProcessSearchSpacing = absl::Seconds(5);
// Some kernels do not list listening sockets by themselves: they walk through all connections of
// the host, milliseconds each time. While a process lives, this happens no more often than this.
inline constexpr absl::Duration kListenerDeadline = absl::Milliseconds(200);
inline constexpr absl::Duration kListenerSpacing = absl::Minutes(1);
// The children of a process are listed thread by thread: of one with a thousand threads that
// takes milliseconds. Loaders are started once and stay.
inline constexpr absl::Duration kTreeSpacing = absl::Seconds(30);
inline constexpr size_t kMaxTreeThreads = 4096;
inline constexpr size_t kMaxTreeProcesses = 64;
// CPU time below which a process does not train: importing JAX or PyTorch alone takes more. A
// command that has used less has only started others.
inline constexpr int64_t kLeastWorkSeconds = 1;
// While no process below a command trains, they are listed no more often than this. Below a command
// that may train itself the spacing doubles with each look that finds no more of them: most such
// commands train, and a look reads a file of each of their threads.
inline constexpr absl::Duration kStartedSpacing = absl::Seconds(5);
inline constexpr absl::Duration kMostStartedSpacing = absl::Minutes(5);
// A search by the log goes through all processes of the host, twice.
inline constexpr absl::Duration kLogWriterSpacing = absl::Seconds(30);
inline constexpr size_t kMaxLogWriters = 256;
// Holders of the chips: searched at a hang only, among all descriptors of the host, and
// not in every poll then.
inline constexpr absl::Duration kHolderSearchDeadline = absl::Milliseconds(200);
inline constexpr absl::Duration kHolderSpacing = absl::Seconds(30);
// The users of a machine; those of a directory service are not there.
inline constexpr size_t kMaxPasswordFileBytes = 256 * 1024;
// Python's watchdog ends its process at once after it has printed stacks; a line and an end are
// seen at polls, in either order.
inline constexpr absl::Duration kWatchdogEndsWithin = absl::Seconds(5);
// Usually one or two leftovers; more add no evidence.
inline constexpr size_t kMaxChipHolders = 8;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_LIMITS_H_

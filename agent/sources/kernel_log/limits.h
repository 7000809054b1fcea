// Bounds reading of the kernel's log, and what of it is remembered.
#ifndef RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// The longest line that /dev/kmsg hands out.
inline constexpr size_t kMaxKernelRecordBytes = 8 * 1024;
// A ring of the usual size holds some ten thousand lines, a microsecond each.
inline constexpr int kMaxKernelLinesPerLook = 20'000;
inline constexpr absl::Duration kKernelLogDeadline = absl::Milliseconds(100);
// Distinct events of the kernel's log that are remembered: a few for each chip.
inline constexpr size_t kMaxKernelEvents = 32;
// The kernel stamps its log with a clock that is never corrected: quartz is off by up
// to 100 millionths, and its calibration at boot by as much.
inline constexpr double kKernelClockDrift = 200e-6;
inline constexpr absl::Duration kKernelClockError = absl::Seconds(1);
// Unit of process start times in /proc, on all machines.
inline constexpr int64_t kTicksPerSecond = 100;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_LIMITS_H_

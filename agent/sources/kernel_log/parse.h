// Recognises errors of this host's TPUs in lines of the kernel's log.
#ifndef RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_PARSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/kernel_log/state.h"
#include "agent/sources/pcie/parse.h"

namespace rapideye::agent {

// A line as /dev/kmsg shows it: "3,1234,5678901,-;pcieport 0000:00:01.0: AER: ...".
struct KernelRecord {
  // The kernel itself wrote it. The kernel marks lines of processes, and these are not
  // believed.
  bool of_kernel = false;
  int64_t sequence = 0;
  absl::Duration since_boot;
  absl::string_view text;  // points into the line
};

// Absent if it is no such line; those that begin with a blank are details of the one
// before.
std::optional<KernelRecord> ParseKernelRecord(absl::string_view line);

// A fault of one of these TPUs, the end of a process for want of memory, or one that is stuck in
// the kernel; absent: anything else, what the kernel corrected included. Of TPUs only what a device
// or its driver says counts: "<driver> <device>: ...". The kernel repeats words of processes, too.
// `backlog` is not set.
std::optional<KernelLine> RecogniseKernelLine(const KernelRecord& record,
                                              const std::vector<TpuDevice>& tpus);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_PARSE_H_

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

// A record as /dev/kmsg shows it: "3,1234,5678901,-;vfio-pci 0000:05:00.0: AER: ...", and behind it
// the dictionary that the kernel writes for a device's own messages, a line each:
// " SUBSYSTEM=pci", " DEVICE=+pci:0000:05:00.0".
struct KernelRecord {
  // The kernel itself wrote it. The kernel marks lines of processes, and these are not
  // believed.
  bool of_kernel = false;
  int severity = 7;  // 0 emergency ... 3 error ... 7 debug
  int64_t sequence = 0;
  absl::Duration since_boot;
  absl::string_view text;  // points into the line
  // Fields of the dictionary; empty: the record has none.
  absl::string_view subsystem = {};
  absl::string_view device = {};
};

// Absent if the line is no record; lines that begin with a blank are the dictionary of the
// record before them.
std::optional<KernelRecord> ParseKernelRecord(absl::string_view line);

// A fault of one of these TPUs, the end of a process for want of memory, or one that is stuck in
// the kernel; absent: anything else, what the kernel corrected included.
//
// A line about a TPU counts only as an error (severity 3 or graver) whose dictionary names that
// very device. The kernel prints names of processes and files in lines of its own, so that a text
// proves nothing; it writes the dictionary for dev_printk() alone, where no process reaches it.
// Warnings exist that repeat a process's name behind a device's dictionary: hence the severity.
// `backlog` is not set.
std::optional<KernelLine> RecogniseKernelLine(const KernelRecord& record,
                                              const std::vector<TpuDevice>& tpus);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_PARSE_H_

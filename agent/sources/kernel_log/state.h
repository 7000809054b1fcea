// Keeps errors of the host's chips from the kernel's log since the training process started.
#ifndef RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/counted_lines.h"
#include "agent/sources/source.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// A line of the kernel's log about a TPU of this host, or a process that it killed for memory.
struct KernelLine {
  logs::LogLine line;
  // The time of the line by the kernel's own clock, which is never corrected.
  absl::Duration since_boot;
  // The line was there before this agent looked for the first time.
  bool backlog = false;
  // A reset of which the line tells no failure: the chip is also reset when a process opens
  // it.
  bool plain_reset = false;
  // The process that was killed, as this machine numbers it.
  std::optional<int64_t> killed = std::nullopt;
};

struct KernelLogReading {
  std::vector<KernelLine> lines;   // in their order
  std::vector<std::string> notes;  // what a person should know
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

// Such a line can remove a host: lines that may be of an earlier job, or of a chip that a process
// opens, are left out. The others are kept as long as the process lives, at any
// distance from the hang.
class KernelLogState final : public StateOf<KernelLogReading> {
 public:
  void Observe(const KernelLogReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Drops the lines if the training process is another one than before.
  void Watching(const std::optional<ProcessId>& process) override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  void Keep(const KernelLine& line, bool ever_launched, absl::Duration now);

  UnavailableWarning unavailable_{"nothing is known of what the kernel says of chips"};
  std::optional<absl::Duration> process_start_;  // since boot, of the last one that was seen
  int64_t pid_ = 0;                              // likewise
  CountedLines lines_;
};

struct KernelLogSource : SourceOf<KernelLogState, KernelLogReading> {
  static constexpr char kName[] = "kernel-log";
  static std::unique_ptr<Fetcher<KernelLogReading>> MakeFetcher(const HostOptions& options,
                                                                HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_STATE_H_

// Tracks the training process from one look at the host to the next.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct ProcessSample {
  ProcessId id;
  std::string command;  // the program's name, bytes
  ProcessState state = ProcessState::kUnspecified;
  int64_t cpu_ms = 0;  // since it started
  // Since it started, when it was looked at; absent: the clock of its start is not this one's.
  std::optional<int64_t> age_ms;
  std::optional<std::string> wait_channel;
  // Known only for a process that has ended, and not always then.
  std::optional<int32_t> exit_code;
  std::optional<int32_t> signal;
  // The kernel killed a process of its memory group as it ended.
  bool out_of_memory = false;

  bool Ended() const { return state == ProcessState::kZombie || state == ProcessState::kExited; }
};

// The work of a process and its children, as the kernel counts it.
struct ProcessWork {
  // Bytes read and written by system calls, on files of any kind, since the agent first looked;
  // absent: the kernel does not show the number to this agent.
  std::optional<int64_t> io_bytes;
  int64_t cpu_ms = 0;  // likewise
  // Time for which the first thread of the process itself ran or was ready to run, likewise: what
  // it would have run on an idle machine. Absent: the kernel does not show it.
  std::optional<int64_t> wanted_ms = std::nullopt;
};

struct ProcessReading {
  // A process that has ended stays until another takes its place.
  std::optional<ProcessSample> process;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
  // Processes that have chips open and are not the training process; absent: not
  // searched, which is done at a hang only.
  std::optional<std::vector<ChipHolder>> chip_holders = std::nullopt;
  std::optional<ProcessWork> work = std::nullopt;  // absent: none lives, or it is not known
  // How the process ended is known once the command that started it has ended, too.
  bool end_awaited = false;
};

// The training process, alive or ended, and the other processes that hold the host's chips. An
// end by a signal or with a status other than 0 raises an alarm, whatever the job has
// launched; an end of unknown kind does so in the midst of a launch only.
class TrainingProcess final : public StateOf<ProcessReading> {
 public:
  void Observe(const ProcessReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // CPU time counts from the last sample on.
  void JobProgressed() override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

  // The live process; absent while there is none, or once it has ended.
  std::optional<ProcessId> alive() const;
  // Like the above, but a process that has ended stays until another takes its place.
  std::optional<ProcessId> last() const {
    return process_.has_value() ? std::optional(process_->id) : std::nullopt;
  }
  // True if it has ended, and its parent, which the agent has started, will tell how.
  bool end_awaited() const { return end_awaited_; }
  // True if the last reading showed another process than the previous one.
  bool replaced() const { return replaced_; }
  // The start of the process, as the kernel keeps it; absent while that is not known.
  std::optional<absl::Duration> started_at() const { return started_at_; }
  // The time when its end was first seen; absent while it lives, or there is no process.
  std::optional<absl::Duration> ended_at() const { return ended_at_; }
  // True for an end with status 0, or after a request to end (SIGTERM, SIGINT).
  bool EndedOnPurpose() const;
  // The time when the previous process was last seen alive; absent: there was none.
  std::optional<absl::Duration> before_until() const { return before_until_; }

 private:
  void Take(const ProcessSample& sample, const JobFacts& job, absl::Duration now, Notices& notices);
  // "python3 (4211) was killed by signal 9".
  std::string DescribeEnd() const;
  // True if the kernel killed the process for want of memory.
  bool KilledForMemory() const;
  // False: it ended well, as far as that is known.
  bool EndedBadly() const;
  bool EndIsKnown() const;

  UnavailableWarning unavailable_{"nothing is known of the training process"};
  std::optional<ProcessSample> process_;
  bool replaced_ = false;
  bool end_awaited_ = false;
  int64_t cpu_ms_at_progress_ = 0;
  absl::Duration alive_at_;
  std::optional<absl::Duration> started_at_;
  std::optional<absl::Duration> before_until_;
  std::optional<absl::Duration> ended_at_;
  bool alarmed_ = false;  // of this process
  std::vector<ChipHolder> chip_holders_;
};

struct ProcessSource : SourceOf<TrainingProcess, ProcessReading> {
  static constexpr char kName[] = "process";
  static std::unique_ptr<Fetcher<ProcessReading>> MakeFetcher(const HostOptions& options,
                                                              HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_

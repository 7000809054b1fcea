// The training process, as samples of the host have shown it.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/host_sample.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class TrainingProcess {
 public:
  // What a sample has shown that the one before had not.
  struct Change {
    bool another = false;  // a process, or another than before
    bool ended = false;    // it was seen alive, and is no more
  };

  Change Observe(const ProcessReading& reading, absl::Duration now);
  // The job has advanced: CPU time counts from the last sample on.
  void Progressed();

  // Absent while there is none, or once it has ended.
  std::optional<ProcessId> alive() const;
  // When the one before the present one was seen for the last time alive.
  std::optional<absl::Duration> before_until() const { return before_until_; }
  // "python3 (4211) was killed by signal 9". Only after a process was seen.
  std::string DescribeEnd() const;
  // False: it ended well, as far as that is known.
  bool EndedBadly() const;
  bool EndIsKnown() const;

  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  std::optional<ProcessSample> process_;
  int64_t cpu_ms_at_progress_ = 0;
  absl::Duration alive_at_;
  std::optional<absl::Duration> before_until_;
  std::optional<absl::Duration> ended_at_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_STATE_H_

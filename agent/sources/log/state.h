// Keeps the events of the training logs for this process, for as long as they matter, and the
// steps that its lines tell.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/counted_lines.h"
#include "agent/sources/source.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Bounded: the first events of each kind matter, so they stay; events that only follow
// from others make room. A hang or a halt that is not old raises an alarm.
class LogState final : public StateOf<logs::LogReading> {
 public:
  void Observe(const logs::LogReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Drops the report and the lines of a hang, which is over.
  void JobProgressed() override;
  // Drops the events of the previous process, its last ones included.
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  void Watching(const std::optional<ProcessId>& process) override;
  // Adds the step of the log unless a progress page gives one; and once the process has ended,
  // the stacks that it wrote, since nobody can read them any more.
  void AddTo(Snapshot& snapshot, Instant now) const override;

  // Absent if no line of this process has told a step that grows, none is expected any more,
  // or no process is known to live: a process whose end is unknown may be done.
  std::optional<wire::StepLines> Steps(absl::Duration now) const;
  // The number of times that a step has grown for this process.
  int64_t advances() const { return advances_; }
  // A line of this process says that it ends itself because of another one.
  bool says_it_ends() const { return says_it_ends_; }
  // When a line of this process last said that Python's watchdog prints stacks.
  std::optional<absl::Duration> watchdog_at() const { return watchdog_at_; }
  // The time since the last step was a hang, and is no measure of health.
  void MeasureAnew() { healthy_since_advance_ = false; }

 private:
  void Keep(const logs::LogLine& line, absl::Duration now);
  void KeepSteps(const logs::StepReading& reading, absl::Duration now);
  // Makes room for an event of this kind; false: it is not worth it.
  bool MakeRoom(LogKind kind, absl::Duration now);

  CountedLines lines_;
  std::optional<HangReport> hang_report_;
  // The reading of the last look, and the time of its last advance; absent: none for this process.
  logs::StepReading steps_;
  std::optional<absl::Duration> advanced_at_;
  int64_t advances_ = 0;  // for this process
  std::optional<absl::Duration> longest_;
  bool healthy_since_advance_ = true;
  bool process_lives_ = false;
  bool says_it_ends_ = false;
  std::optional<absl::Duration> watchdog_at_;
  std::vector<Stack> stacks_;  // that stand in the log of this process since its last step
};

struct TrainingLogSource : SourceOf<LogState, logs::LogReading> {
  static constexpr char kName[] = "log";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

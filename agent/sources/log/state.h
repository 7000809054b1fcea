// Keeps the events of the training logs for this process, for as long as they matter.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

#include <optional>

#include "absl/time/time.h"
#include "agent/sources/counted_lines.h"
#include "agent/sources/source.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Bounded: the first events of each kind matter, so they stay; what only follows
// from others makes room. A hang or a halt that is not old raises an alarm.
class LogState final : public StateOf<logs::LogReading> {
 public:
  void Observe(const logs::LogReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // A hang that was declared is over.
  void JobProgressed() override;
  // Drops the events of the previous process, its last ones included.
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  void Keep(const logs::LogLine& line, absl::Duration now);
  // Makes room for an event of this kind; false: it is not worth it.
  bool MakeRoom(LogKind kind, absl::Duration now);

  CountedLines lines_;
  std::optional<HangReport> hang_report_;
};

struct TrainingLogSource : SourceOf<LogState, logs::LogReading> {
  static constexpr char kName[] = "log";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

// What the logs have said of this process, for as long as it matters.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

#include <optional>

#include "absl/time/time.h"
#include "agent/sources/counted_lines.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Bounded: the first events of each kind matter, so they stay; what only follows
// from others makes room.
class LogState {
 public:
  void Observe(const logs::LogLine& line, absl::Duration now);
  // Launches go on: a hang that was declared is over.
  void Progressed();
  // Forgets what another process said, up to then.
  void ForgetBefore(absl::Duration time);

  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  // Makes room for an event of this kind; false: it is not worth it.
  bool MakeRoom(LogKind kind, absl::Duration now);

  CountedLines lines_;
  std::optional<HangReport> hang_report_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_STATE_H_

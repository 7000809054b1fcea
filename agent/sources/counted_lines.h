// Counts recognised log lines that say the same.
#ifndef RAPIDEYE_AGENT_SOURCES_COUNTED_LINES_H_
#define RAPIDEYE_AGENT_SOURCES_COUNTED_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Counts lines with the same key as one line. The owner bounds how many are kept.
class CountedLines {
 public:
  struct Line {
    LogEvent event;
    std::string key;
    int64_t count = 0;
    std::optional<absl::Duration> first;  // absent: before the agent followed the log
    absl::Duration last;
  };

  // Adds the line to the kept line of its key; false: none is kept.
  bool Count(const logs::LogLine& line, absl::Duration now);
  // Keeps a line of a new key. `before`: it was written before the agent followed the log.
  void Add(const logs::LogLine& line, bool before, absl::Duration now);

  // The lines, in the order of their first occurrences. The owner may remove some.
  std::vector<Line>& lines() { return lines_; }

  // Adds the lines whose last occurrence is no older than `keep_for`.
  void AddTo(Snapshot& snapshot, Instant now,
             absl::Duration keep_for = absl::InfiniteDuration()) const;

 private:
  std::vector<Line> lines_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_COUNTED_LINES_H_

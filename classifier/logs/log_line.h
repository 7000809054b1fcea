// LogLine and LogReading hold the recognised lines in the logs of this host. Plain values.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::logs {

// A recognised line. Count and age of the event are not set.
struct LogLine {
  LogEvent event;
  // Events with the same key are repetitions of one event. Not empty.
  std::string key;
  std::optional<HangReport> hang_report;  // of a hang line that is whole
  int64_t repeats = 0;                    // of the same, in this reading
  // The line was written before the agent followed the log: its age is unknown.
  bool old = false;
};

// The steps that lines of the log show.
struct StepReading {
  std::optional<int64_t> step;  // absent: no line shows a step
  int64_t advances = 0;         // how often such a number has grown

  friend bool operator==(const StepReading&, const StepReading&) = default;
};

// Lines recognised since the previous reading; may be empty.
struct LogReading {
  std::vector<LogLine> lines;  // in the order in which they were written
  // Problems for the operator: files that are missing, bytes that were skipped.
  std::vector<std::string> notes;
  std::optional<StepReading> steps = std::nullopt;  // if it has changed
  // The threads of the one process whose stacks stand in the logs, as they were written last, the
  // main thread first. Empty: none since the previous reading, or of several processes.
  std::vector<Stack> stacks = {};
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_

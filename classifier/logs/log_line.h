// What the logs of this host have said, as plain values.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::logs {

// A line that was recognised. Of the event, count and age are not set.
struct LogLine {
  LogEvent event;
  // Events with the same key are the same again. Not empty.
  std::string key;
  std::optional<HangReport> hang_report;  // of a hang line that is whole
  int64_t repeats = 0;                    // of the same, in this reading
  // It was written before anybody followed the log: nobody knows when.
  bool old = false;
};

// What came in since the last time; may be nothing at all.
struct LogReading {
  std::vector<LogLine> lines;  // in the order in which they were written
  // What a person should know: files that are missing, bytes that were skipped.
  std::vector<std::string> notes;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LOG_LINE_H_

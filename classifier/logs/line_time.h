// TakeLineTime reads the time at the beginning of a line of a log, in the forms in which
// loggers write it.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LINE_TIME_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LINE_TIME_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace rapideye::logs {

struct LineTime {
  // Time since the epoch; a line that names no zone is taken to be in UTC.
  int64_t unix_ms = 0;
  // The beginning of the line's text: behind the time and one blank. Indentation stays,
  // and so does the time of glog and absl, whose letter is the severity.
  size_t text = 0;
};

// Reads "2026-11-22T11:26:39.439Z ", "2026-11-22 11:26:39,439 ", "[2026/11/22 11:26:39] ",
// "I1122 11:26:39.439000 ", "Nov 22 11:26:39 ". A form without a year is given `year`;
// absent for a line without a time. Pure, and cheap for such lines.
std::optional<LineTime> TakeLineTime(absl::string_view line, int64_t year);

// The year of a time.
int64_t YearOf(int64_t unix_ms);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LINE_TIME_H_

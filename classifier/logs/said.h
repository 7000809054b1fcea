// SaidAt and SaidLine hold a line of a log and the time of it.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_SAID_H_
#define RAPIDEYE_CLASSIFIER_LOGS_SAID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace rapideye::logs {

// So much of a line is kept.
inline constexpr size_t kMaxQuoteBytes = 512;

// The time of a line: by the clock of the log, and by its steps.
struct SaidAt {
  std::optional<int64_t> unix_ms;  // absent: no line near it has a time
  int64_t advances = 0;            // steps before the line
};

struct SaidLine {
  std::string text;  // empty: nothing of the kind was said
  SaidAt at;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_SAID_H_

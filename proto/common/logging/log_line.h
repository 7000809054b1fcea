// Formats a log line as text or JSON. Internal to proto/common/logging.
#ifndef RAPIDEYE_PROTO_COMMON_LOGGING_LOG_LINE_H_
#define RAPIDEYE_PROTO_COMMON_LOGGING_LOG_LINE_H_

#include <spdlog/formatter.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proto/common/logging/logging.h"

namespace rapideye::program {

// `text` with control characters (C0, DEL, C1) as escapes such as \n or \x1b, so
// that it stays one line and moves no cursor. Bytes that are not UTF-8 stay.
std::string EscapeControls(std::string_view text);

// 2026-01-31T12:00:00.123456Z info rapideye-agent: message
// {"time":"2026-01-31T12:00:00.123456Z","severity":"INFO","level":"info","program":"...","message":"..."}
// `severity` is what Cloud Logging reads: without it all of standard error is an error there.
std::unique_ptr<spdlog::formatter> MakeFormatter(LogFormat format);

// Lets a bounded number of lines through in each second. Not synchronised.
class LineBudget {
 public:
  explicit LineBudget(int lines_per_second) : lines_per_second_(lines_per_second) {}
  // True if a line may be written in this second (any count of seconds that
  // only grows). `suppressed` is how many were not since the last that was.
  bool Admit(int64_t second, int64_t& suppressed);

 private:
  const int lines_per_second_;
  int64_t second_ = -1;
  int written_ = 0;
  int64_t suppressed_ = 0;
};

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_LOGGING_LOG_LINE_H_

// Gathers the events in the lines of one look.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_COLLECTOR_H_
#define RAPIDEYE_CLASSIFIER_LOGS_COLLECTOR_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "classifier/logs/context.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/recognise.h"
#include "classifier/logs/signatures.h"

namespace rapideye::logs {

// Merges repeated lines into one line and a count; drops benign lines.
class EventCollector {
 public:
  // Both outlive the collector.
  EventCollector(const SignatureTable& signatures, LogReading& reading);

  // `context`: of the log that the line comes from. `old`: see LogLine.
  void Take(absl::string_view line, LogContext& context, bool old);

 private:
  void Keep(LogLine found, bool old);

  RecogniseOptions options_;
  LogReading& reading_;
  std::map<std::pair<std::string, bool>, size_t> known_;  // key and old: place in the reading
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_COLLECTOR_H_

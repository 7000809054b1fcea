// JobLogs turns the logs of one job into the evidence that the classifier reads.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_JOB_LOGS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_JOB_LOGS_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/logs/log_stream.h"
#include "classifier/logs/signatures.h"
#include "classifier/logs/worker_names.h"
#include "classifier/verdict/log_evidence.h"
#include "proto/v1/evidence.h"

namespace rapideye::logs {

struct JobEvidence {
  // A snapshot for each worker that has a log. Its invariants hold.
  Capture capture;
  LogEvidence logs;
};

// Bounded by the number of logs, whatever they hold. Not synchronised.
class JobLogs {
 public:
  // `signatures` outlives it.
  explicit JobLogs(const SignatureTable& signatures);

  // Adds a log; returns its number for Take. Beyond kMaxLogs all logs share a number, of no worker.
  size_t Add(LogName name);
  // Takes the next line of a log, without its end; `unix_ms`: the time of writing, if a source
  // other than the line tells it.
  void Take(size_t log, absl::string_view line, std::optional<int64_t> unix_ms);

  // Call once, last. `pattern`: see WhoseLogs. A log that cannot be assigned to a worker accuses
  // nobody by itself; if the job has a single worker, the log is that worker's.
  JobEvidence Finish(const re2::RE2* pattern);

 private:
  std::vector<LogName> names_;  // the last of more than kMaxLogs is of all others
  std::deque<LogStream> streams_;
  RecogniseOptions options_;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_JOB_LOGS_H_

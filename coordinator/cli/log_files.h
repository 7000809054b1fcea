// LogFileReader reads the logs of a job from files, in the forms in which people have them.
#ifndef RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_
#define RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "classifier/logs/job_logs.h"
#include "coordinator/cli/progress.h"

namespace rapideye::cli {

// The kind of a file, by its content.
enum class FileContent {
  kCapture,  // and whatever is nothing else: the reader of captures says what is wrong
  kExport,   // JSON objects with what programs logged
  kLog,      // text of which a line at least can be read as a log line
  kText,     // other text: a log beside logs that are named like it, otherwise as kCapture
};
// Of a file, so much tells what it is.
constexpr int64_t kHeadBytes = 64 * 1024;
// A file that cannot be opened counts as a capture. Reads the first kHeadBytes.
FileContent ContentOf(const std::string& path);

// Reads files one after the other, in bounded memory. While it does, a terminal at standard
// error shows how far it has come.
class LogFileReader {
 public:
  // `logs` outlives it. `paths`: all that will be read, for the progress.
  LogFileReader(const std::vector<std::string>& paths, logs::JobLogs& logs);

  // `name`: as the caller knows the file at `path`. INVALID_ARGUMENT: it is broken, or cannot be
  // read; INTERNAL: what it needs is not to be had (room for a temporary file).
  absl::Status Read(const std::string& name, const std::string& path, FileContent content);

 private:
  void Show(int64_t bytes_of_file);

  logs::JobLogs& logs_;
  Progress progress_{"reading logs"};
  int64_t all_bytes_ = 0;   // of the files, as they lie on the disk
  int64_t done_bytes_ = 0;  // of those that were read
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_

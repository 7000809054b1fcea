// LogFileReader reads the logs of a job from files, in the forms in which people have them.
#ifndef RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_
#define RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/job_logs.h"
#include "coordinator/cli/progress.h"

namespace rapideye::cli {

// The kind of a file, by its content.
enum class FileContent {
  kCapture,  // or no other kind: the reader of captures then says what is wrong
  kExport,   // JSON objects with lines that programs logged
  kTable,    // the same as comma-separated values
  kLog,      // text with at least one line that can be read as a log line
  kText,     // other text, or none: a log beside logs of a similar name, otherwise like kCapture
};
// The first bytes of a file, so many, tell its kind.
constexpr int64_t kHeadBytes = 64 * 1024;
// A file that cannot be opened counts as a capture. Reads the first kHeadBytes.
FileContent ContentOf(const std::string& path);
// The program that has compressed the file, by its first bytes, unless it is gzip, which is read as
// it is; empty: none is known.
absl::string_view CompressionOf(const std::string& path);

// Reads files one after the other, in bounded memory. Meanwhile a terminal at standard error
// shows the progress.
class LogFileReader {
 public:
  // `logs` outlives the reader. `paths`: all files that will be read, for the progress.
  LogFileReader(const std::vector<std::string>& paths, logs::JobLogs& logs);

  // `name`: the caller's name for the file at `path`. INVALID_ARGUMENT: the file is broken, or
  // cannot be read; INTERNAL: a resource is lacking (room for a temporary file).
  absl::Status Read(const std::string& name, const std::string& path, FileContent content);

 private:
  void Show(int64_t bytes_of_file);

  logs::JobLogs& logs_;
  Progress progress_{"reading logs"};
  int64_t all_bytes_ = 0;   // of the files, as on the disk
  int64_t done_bytes_ = 0;  // of the files that were read
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_LOG_FILES_H_

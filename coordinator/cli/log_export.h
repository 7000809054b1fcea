// LogExport reads an export of Cloud Logging, or other logs of which each line is a JSON
// object or each row one of a table, into the logs of its pods.
#ifndef RAPIDEYE_COORDINATOR_CLI_LOG_EXPORT_H_
#define RAPIDEYE_COORDINATOR_CLI_LOG_EXPORT_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/job_logs.h"
#include "coordinator/cli/log_csv.h"

namespace rapideye::cli {

// Splits a stream of JSON objects, or one array of them, into the objects. Not synchronised.
class ObjectSplitter {
 public:
  using Sink = absl::FunctionRef<absl::Status(absl::string_view object)>;

  // INVALID_ARGUMENT: something else than an object stands there, or an object is too long; and
  // the errors of the sink.
  absl::Status Add(absl::string_view bytes, Sink sink);
  // INVALID_ARGUMENT: the last object, or the array, is cut short; or there is none.
  absl::Status Finish() const;

 private:
  absl::Status Outside(char c);

  std::string object_;
  int64_t objects_ = 0;
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_array_ = false;
  bool array_ended_ = false;
};

// Entries may come oldest or newest first. Memory is bounded by the longest entry and the
// number of pods; entries that come newest first wait in a temporary file.
class LogExport {
 public:
  // The form of the entries.
  enum class Form { kJson, kCsv };

  // `logs` outlives it.
  LogExport(std::string path, Form form, logs::JobLogs& logs);
  ~LogExport();
  LogExport(const LogExport&) = delete;
  LogExport& operator=(const LogExport&) = delete;

  // Takes the next bytes. INVALID_ARGUMENT names the entry that is no export, or broken, and why.
  // INTERNAL: there is no room for the temporary file.
  absl::Status Add(absl::string_view bytes);
  // Call once, last. Errors as of Add.
  absl::Status Finish();

 private:
  struct Entry;

  absl::Status TakeObject(absl::string_view object);
  absl::Status ChooseOrder();
  absl::Status Spill(absl::string_view object);
  absl::Status TakeBackwards();
  void TakeEqual(std::vector<Entry>& entries);
  void TakeEntry(const Entry& entry);
  size_t LogOf(const Entry& entry);

  const std::string path_;
  const Form form_;
  logs::JobLogs& logs_;
  ObjectSplitter splitter_;
  CsvRows rows_;
  int64_t objects_ = 0;
  bool order_known_ = false;
  bool of_several_hosts_ = false;        // by the same entries
  bool of_ranks_ = false;                // likewise: programs state their ranks
  std::vector<std::string> first_;       // until the order, the hosts and the ranks are known
  std::FILE* spilled_ = nullptr;         // set: newest first
  std::map<std::string, size_t> known_;  // pod, container and number: the log
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_LOG_EXPORT_H_

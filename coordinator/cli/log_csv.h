// CsvRows turns a table of log entries, as the pages of log services export it, into JSON objects
// that LogExport reads.
#ifndef RAPIDEYE_COORDINATOR_CLI_LOG_CSV_H_
#define RAPIDEYE_COORDINATOR_CLI_LOG_CSV_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rapideye::cli {

// True if the text begins with a row that names a column of messages and a column of times, as
// Cloud Logging, CloudWatch, Datadog, Kibana and Splunk call them.
bool BeginsLikeCsvExport(absl::string_view text);

// Reads comma-separated values by RFC 4180: fields in quotes may hold commas and line breaks. Not
// synchronised.
class CsvRows {
 public:
  using Sink = absl::FunctionRef<absl::Status(absl::string_view object)>;

  // Takes the next bytes; the sink gets an object for each row that ends in them. INVALID_ARGUMENT:
  // a row is too long; and the errors of the sink.
  absl::Status Add(absl::string_view bytes, Sink sink);
  // Call once, last: ends the last row. INVALID_ARGUMENT: it is cut short within a field in quotes,
  // or there was none; and the errors of the sink.
  absl::Status Finish(Sink sink);

 private:
  friend bool BeginsLikeCsvExport(absl::string_view text);

  // The part of an entry that a column holds; of several with the same part the lowest rank counts.
  struct Column {
    int kind = -1;  // -1: nothing that is read
    int rank = 0;
  };

  void EndField();
  absl::Status EndRow(Sink sink);
  void TakeHeader();

  std::optional<std::vector<Column>> columns_;  // absent: the header has not ended
  std::vector<std::string> fields_;
  std::string field_;
  size_t row_bytes_ = 0;
  int64_t rows_ = 0;
  bool quoted_ = false;
  bool after_quote_ = false;  // within a quoted field: the last byte was a quote
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_LOG_CSV_H_

// Reads any bytes as an export of logs, of JSON objects or a table: it is refused with a reason or
// read, and which of the two, and what is read, do not depend on the pieces in which it comes.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "classifier/classify.h"
#include "classifier/logs/job_logs.h"
#include "coordinator/cli/log_csv.h"
#include "coordinator/cli/log_export.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using rapideye::cli::LogExport;

// The error, or the workers and their events.
std::string Outcome(absl::string_view bytes, LogExport::Form form, size_t piece) {
  namespace logs = rapideye::logs;
  logs::JobLogs job(logs::SignatureTable::BuiltIn());
  LogExport reader("export", form, job);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const absl::Status added = reader.Add(bytes.substr(0, piece));
    if (!added.ok()) return added.ToString();
  }
  if (const absl::Status finished = reader.Finish(); !finished.ok()) return finished.ToString();
  const logs::JobEvidence evidence = job.Finish(nullptr);
  std::string outcome;
  for (const auto& snapshot : evidence.capture.snapshots) {
    absl::StrAppend(&outcome, snapshot.worker.slice, "/", snapshot.worker.task, " ");
    for (const auto& event : snapshot.log_events) absl::StrAppend(&outcome, event.text, "\n");
  }
  rapideye::ClassifyLogs(evidence.capture, evidence.logs);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto form = data[0] % 2 == 0 ? LogExport::Form::kJson : LogExport::Form::kCsv;
  rapideye::cli::BeginsLikeCsvExport(bytes);
  const std::string whole = Outcome(bytes, form, std::max<size_t>(bytes.size(), 1));
  const std::string pieces = Outcome(bytes, form, 1 + data[1] % 64);
  rapideye::Require(whole == pieces, "pieces change nothing:", absl::StrCat(whole, "|", pieces));
  return 0;
}

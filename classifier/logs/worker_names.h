// WhoseLogs assigns each log of a job to a worker, by the names under which the log came.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_WORKER_NAMES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_WORKER_NAMES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/v1/evidence.h"

namespace re2 {
class RE2;
}

namespace rapideye::logs {

// The names of one log.
struct LogName {
  std::string path;
  std::string pod;               // empty: none is known
  std::string host;              // before each of its lines: all hosts of the job share the log
  bool process = false;          // of many processes: a rank only if it tells its own
  std::optional<int32_t> label;  // the number before each of its lines
  std::optional<int32_t> index;  // a label of the platform: the index within the job
  std::optional<int32_t> slice;  // likewise, of the slice
  std::optional<int32_t> said;   // the rank that the log tells of itself
  bool of_nobody = false;        // lines without the label that the others have
};

// Larger numbers in names are dates, processes and jobs.
inline constexpr int32_t kMaxWorkerNumber = 999'999;

// The name of a file without its folder and its endings: "rank-3" of "logs/rank-3.log.gz".
absl::string_view FileStem(absl::string_view path);

// INVALID_ARGUMENT: the pattern has neither one group nor groups named slice, task or rank.
absl::Status CheckWorkerPattern(const re2::RE2& pattern);

// In the order of the names; absent: the worker is not known. `pattern` (nullptr: none) comes
// first where it matches a label, pod or path; then labels, then the numbers in
// the names ("rank-3.log", "train-slice-1-3-x2k2q"), or only the numbers that differ from
// name to name. Hosts that share a log are counted in the order of their numbers. Workers of a job
// that counts ranks are in slice 0.
std::vector<std::optional<WorkerId>> WhoseLogs(absl::Span<const LogName> names,
                                               const re2::RE2* pattern);

// The workers on machines that lines of logs name, of which no log is. They are counted as the logs
// are, whose `workers` WhoseLogs gave; where that is not possible, by the last number of the name.
// Where no log has a worker, as those of Ray's processes, machines that speak are counted in order.
std::map<WorkerId, std::string> WithoutLog(const std::set<std::string>& hosts,
                                           absl::Span<const LogName> names,
                                           const std::vector<std::optional<WorkerId>>& workers,
                                           const re2::RE2* pattern);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_WORKER_NAMES_H_

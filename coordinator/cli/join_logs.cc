#include "coordinator/cli/join_logs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rapideye::cli {
namespace {

// The workers of the capture, in the order of the whole job.
std::vector<WorkerId> WorkersOf(const Capture& capture) {
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : capture.header.expected_workers) workers.push_back(worker.id);
  std::sort(workers.begin(), workers.end());
  return workers;
}

std::optional<WorkerId> Match(WorkerId id, bool by_rank, const std::vector<WorkerId>& workers) {
  if (by_rank) {
    const auto rank = static_cast<size_t>(id.task);
    return rank < workers.size() ? std::optional(workers[rank]) : std::nullopt;
  }
  const bool known = std::binary_search(workers.begin(), workers.end(), id);
  return known ? std::optional(id) : std::nullopt;
}

bool Knows(const Snapshot& snapshot, const LogEvent& event) {
  return std::any_of(
      snapshot.log_events.begin(), snapshot.log_events.end(), [&](const LogEvent& known) {
        return known.kind == event.kind && (absl::StrContains(known.text, event.text) ||
                                            absl::StrContains(event.text, known.text));
      });
}

// The event's age when the capture was taken; absent: one of the two has no clock.
std::optional<int64_t> AgeIn(const Capture& capture, const CaptureHeader& logs,
                             const LogEvent& event) {
  const std::optional<int64_t>& taken = capture.header.detected_unix_ms;
  if (!taken || !logs.detected_unix_ms || !event.age_ms) return std::nullopt;
  return std::max<int64_t>(*taken - (*logs.detected_unix_ms - *event.age_ms), 0);
}

}  // namespace

absl::Status JoinLogs(const logs::JobEvidence& evidence, Capture& capture) {
  const std::vector<WorkerId> workers = WorkersOf(capture);
  const auto& snapshots = evidence.capture.snapshots;
  const bool by_rank = std::all_of(snapshots.begin(), snapshots.end(),
                                   [](const Snapshot& one) { return one.worker.slice == 0; });
  for (const Snapshot& one : snapshots) {
    if (Match(one.worker, by_rank, workers)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the log of ", one.host, " is of no worker of the capture (slice ", one.worker.slice,
        " task ", one.worker.task, "); --worker-from says whose a log is"));
  }
  for (const Snapshot& one : snapshots) {
    if (one.log_events.empty()) continue;
    const WorkerId id = *Match(one.worker, by_rank, workers);
    auto snapshot = std::find_if(capture.snapshots.begin(), capture.snapshots.end(),
                                 [id](const Snapshot& other) { return other.worker == id; });
    if (snapshot == capture.snapshots.end()) {
      snapshot = capture.snapshots.emplace(snapshot);
      snapshot->worker = id;
      for (const ExpectedWorker& expected : capture.header.expected_workers) {
        if (expected.id == id) snapshot->host = expected.host;
      }
      snapshot->runtime.state = RuntimeState::kUnavailable;
    }
    for (LogEvent event : one.log_events) {
      if (Knows(*snapshot, event)) continue;
      event.age_ms = AgeIn(capture, evidence.capture.header, event);
      snapshot->log_events.push_back(std::move(event));
    }
  }
  return absl::OkStatus();
}

}  // namespace rapideye::cli

#include "coordinator/core/measured.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

// Since when a worker has shown no progress, and for how long that may be.
struct Stillness {
  absl::Duration since;
  absl::Duration bound;
};

// Absent: the worker has shown no progress yet, or tells nothing.
std::optional<Stillness> StillnessOf(const WorkerProgress& worker, const Thresholds& thresholds,
                                     const Learning& learning) {
  if (!worker.connected) return std::nullopt;
  // A pause of any length that is waited for, and the work after it, which may take as long.
  const absl::Duration patience = std::max(2 * thresholds.longest_pause, thresholds.startup_grace);
  const auto still = [patience](absl::Duration since, absl::Duration threshold) {
    return Stillness{since, std::max(patience, 2 * threshold)};
  };
  if (worker.Shown() && !worker.ByLines() && worker.in_flight_since.has_value()) {
    return still(
        std::max(*worker.in_flight_since, worker.last_completion.value_or(*worker.in_flight_since)),
        LaunchThreshold(thresholds, learning, worker.program));
  }
  if (worker.Shown() && worker.last_completion.has_value()) {
    return still(*worker.last_completion, worker.ByLines()
                                              ? StepLinesThreshold(thresholds, learning)
                                              : HangThreshold(thresholds, learning));
  }
  if (!worker.active_at.has_value()) return std::nullopt;
  const absl::Duration longest = worker.activity.has_value()
                                     ? worker.activity->longest.value_or(absl::ZeroDuration())
                                     : absl::ZeroDuration();
  return still(*worker.active_at, ActivityThreshold(thresholds, learning, longest));
}

}  // namespace

Measured HowToMeasure(const std::map<WorkerId, WorkerProgress>& workers, const HostVotes& hosts) {
  Tally launches;
  Tally all;  // of those that tell of launches or by pages
  bool lines = false;
  for (const auto& [id, worker] : workers) {
    // The only log with steps may have gone with its host: lines count even so.
    lines = lines || worker.ByLines();
    if (!worker.Shown() || (!worker.runtime_answers && worker.ByLines())) continue;
    all.Add(hosts.PartOf(id));
    if (worker.runtime_answers) launches.Add(hosts.PartOf(id));
  }
  if (launches.workers > 0 && !AreExceptions(launches, all)) return Measured::kByLaunches;
  if (all.workers > 0) return Measured::kByPages;
  return lines ? Measured::kByLines : Measured::kByActivity;
}

bool Tells(const WorkerProgress& worker, Measured measured) {
  switch (measured) {
    case Measured::kByLaunches:
      return worker.Shown() && worker.runtime_answers;
    case Measured::kByPages:
      return worker.Shown() && !worker.ByLines();
    case Measured::kByLines:
      return worker.ByLines();
    case Measured::kByActivity:
      return worker.connected && worker.active_at.has_value();
  }
  return false;
}

const char* Name(Measured measured) {
  switch (measured) {
    case Measured::kByLaunches:
      return "launches of the TPU runtime";
    case Measured::kByPages:
      return "steps of the progress pages";
    case Measured::kByLines:
      return "steps that the log tells";
    case Measured::kByActivity:
      break;
  }
  return "work of the processes";
}

std::optional<Standstill> JudgeEach(const std::map<WorkerId, WorkerProgress>& workers,
                                    const HostVotes& hosts, const Thresholds& thresholds,
                                    const Learning& learning, absl::Duration now) {
  Tally telling;
  Tally standing;
  Tally others;
  absl::Duration threshold = absl::ZeroDuration();
  absl::Duration still_for = absl::InfiniteDuration();
  for (const auto& [id, worker] : workers) {
    const std::optional<Stillness> one = StillnessOf(worker, thresholds, learning);
    if (!one.has_value()) continue;
    telling.Add(hosts.PartOf(id));
    if (now - one->since < one->bound) {
      others.Add(hosts.PartOf(id));
      continue;
    }
    standing.Add(hosts.PartOf(id));
    threshold = std::max(threshold, one->bound);
    still_for = std::min(still_for, now - one->since);
  }
  if (others.workers == 0 || !IsMost(standing.votes, telling.votes)) return std::nullopt;
  if (!AreExceptions(others, telling)) return std::nullopt;
  return Standstill{.threshold = threshold,
                    .still_for = still_for,
                    .why = absl::StrCat(standing.workers, " of ", telling.workers,
                                        " workers show no progress, for longer than any pause, "
                                        "while few others do"),
                    .most_stand = true};
}

}  // namespace rapideye::coordinator

#include "classifier/errors/aftermath.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/errors/error_kind.h"
#include "classifier/errors/restarts.h"
#include "classifier/host/stacks.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// True if the page, which is kept up to date, shows that the training loop is still in the phase
// in which it was at the error.
bool EnteredNothingAfter(const Topology& topology, const Snapshot& snapshot,
                         const ErrorEvent& event) {
  if (!snapshot.progress.has_value() || !snapshot.progress->phase_ms.has_value()) return false;
  const int64_t entered_ms = *snapshot.progress->phase_ms;
  const int64_t threshold =
      topology.capture().header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
  return event.age_ms && entered_ms > *event.age_ms && entered_ms < threshold;
}

}  // namespace

bool IsGone(const Topology& topology, int worker) {
  const Snapshot* snapshot = topology.worker(worker).snapshot;
  if (snapshot == nullptr || snapshot->runtime.state == RuntimeState::kUnavailable) return true;
  return std::any_of(
      snapshot->processes.begin(), snapshot->processes.end(), [](const Process& process) {
        return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
      });
}

bool Lives(const Topology& topology, int worker) {
  const Snapshot* snapshot = topology.worker(worker).snapshot;
  return snapshot != nullptr &&
         std::any_of(snapshot->processes.begin(), snapshot->processes.end(),
                     [](const Process& process) { return IsAlive(process); });
}

bool WentOnAfter(const Topology& topology, const ErrorEvent& event) {
  const Snapshot* snapshot = topology.worker(event.worker).snapshot;
  if (snapshot == nullptr || !Lives(topology, event.worker)) return false;
  const auto later = [&event](const std::optional<int64_t>& age_ms) {
    return age_ms && event.age_ms && *age_ms + kAgeErrorMs < *event.age_ms;
  };
  if (snapshot->progress.has_value() && later(snapshot->progress->phase_ms)) return true;
  // Launches that were queued before the error are still completed after it.
  if (!RanOut(*snapshot) && !EnteredNothingAfter(topology, *snapshot, event) &&
      std::any_of(snapshot->cores.begin(), snapshot->cores.end(),
                  [&](const Core& core) { return later(core.stuck_ms); })) {
    return true;
  }
  if (event.kind != ErrorKind::kException) return false;
  const std::vector<const Stack*> stacks = LoopStacks(*snapshot);
  return std::any_of(stacks.begin(), stacks.end(), [](const Stack* stack) {
    return std::any_of(stack->frames.begin(), stack->frames.end(),
                       [](const std::string& frame) { return text::Contains(frame, "<module>"); });
  });
}

bool IsEndOfVictim(const Topology& topology, const ErrorEvent& event) {
  const bool told = event.kind == ErrorKind::kPreempted || event.terminated;
  if ((event.kind != ErrorKind::kExit && !told) || event.beyond_job) return false;
  if ((event.signalled && !told) || event.unexplained) return false;
  const Snapshot* snapshot = topology.worker(event.worker).snapshot;
  if (event.succeeded || !event.age_ms || snapshot == nullptr) return false;
  return std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(),
                     [&](const LogEvent& log) {
                       // A warning that names another worker ends no process.
                       if (!IsOfVictim(log)) return false;
                       // For a signal, the words come first: a process that is told to end
                       // loses its peers afterwards, too.
                       if (told && (!log.age_ms || *log.age_ms < *event.age_ms)) return false;
                       return log.age_ms && *log.age_ms <= *event.age_ms + kVictimEndsWithinMs;
                     });
}

}  // namespace rapideye::classifier

#include "coordinator/core/exits.h"

#include <algorithm>

namespace rapideye::coordinator {
namespace {

bool HasFailed(const Process& process) {
  const bool gone =
      process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
  return gone && (process.signal.has_value() || process.exit_code.value_or(0) != 0);
}

bool HasFailed(const Snapshot& snapshot) {
  return std::any_of(snapshot.processes.begin(), snapshot.processes.end(),
                     [](const Process& process) { return HasFailed(process); });
}

// Launches that are queued or under way.
bool RunsSomething(const Core& core) {
  const bool in_a_program =
      std::any_of(core.sequencers.begin(), core.sequencers.end(),
                  [](const Sequencer& sequencer) { return sequencer.pc.value_or(0) != 0; });
  return in_a_program || !core.queued.empty();
}

bool HasMetAnError(const Snapshot& snapshot) {
  return std::any_of(
      snapshot.log_events.begin(), snapshot.log_events.end(), [](const LogEvent& event) {
        return event.kind != LogKind::kBenign && event.kind != LogKind::kUnknownFlag &&
               event.kind != LogKind::kPreempted;
      });
}

}  // namespace

bool MayBeTheEndOfTheRun(const std::map<WorkerId, Snapshot>& snapshots) {
  bool failed = false;
  for (const auto& [worker, snapshot] : snapshots) {
    if (HasFailed(snapshot)) {
      failed = true;
      continue;
    }
    if (HasMetAnError(snapshot)) return false;
    if (std::any_of(snapshot.cores.begin(), snapshot.cores.end(), RunsSomething)) return false;
  }
  return failed;
}

}  // namespace rapideye::coordinator

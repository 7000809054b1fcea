// SavedState and RestoredState carry the state of an agent over to the next one of the same worker,
// as far as it is still valid.
#ifndef RAPIDEYE_AGENT_CORE_RESTORED_STATE_H_
#define RAPIDEYE_AGENT_CORE_RESTORED_STATE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Remembers which incident this worker was last part of, for a coordinator that restarts: it
// learns from its agents which incidents it had begun or finished. Holds for one standstill of one
// training process: a launch that completes, or another process, ends it. `process` is the
// incarnation of the process; absent while none was seen.
class IncidentMemory {
 public:
  // The coordinator collects for this incident.
  void Collected(const std::string& incident, const std::optional<std::string>& process);
  // The digest of the incident is out. If this agent did not collect for the incident, it is
  // remembered only if the worker stands still: the worker is part of it, and its agent was away.
  void Concluded(const std::string& incident, bool stands_still,
                 const std::optional<std::string>& process);
  // A launch has completed.
  void Progressed() { memory_.reset(); }
  // The samples are of this process from now on.
  void Watching(const std::optional<std::string>& process);
  // Restores the memory of an earlier agent.
  void Restore(std::optional<wire::IncidentMemory> memory) { memory_ = std::move(memory); }

  const std::optional<wire::IncidentMemory>& memory() const { return memory_; }

 private:
  std::optional<wire::IncidentMemory> memory_;
};

// Passes from an agent to the next one of the same worker.
struct SavedState {
  // On the monotonic clock, which all processes of one boot of a host share.
  absl::Duration kept_at;
  // The agent that saved it, and the incident that it remembered.
  wire::Hello hello;
  // Its snapshot of a worker that stood still, HLO included.
  std::optional<Snapshot> snapshot;
  // Alarms that were raised and not yet sent.
  std::vector<wire::Alarm> alarms;

  // True if there is nothing worth keeping.
  bool Empty() const {
    return !hello.incident.has_value() && !snapshot.has_value() && alarms.empty();
  }
};

// Holds the state that the agent before this one left of the same training process. Nothing of
// it is used for another process, another incarnation of the job, or
// another worker. A process that is not seen at all may be starting: what was kept
// stands in for it for a short while only. Nothing that convicts a machine is restored, because
// the training process can write the file: no line of the kernel's log, no error counter. The
// agent reads those again.
class RestoredState {
 public:
  // `hello` is of this agent. A state of another worker or job is left aside.
  RestoredState(std::optional<SavedState> kept, const wire::Hello& hello);

  // Forgets state that is older than it may be. Call before anything else.
  void Expire(absl::Duration now);
  // The samples, or the host, show this process; absent: none was seen so far.
  void Watching(const std::optional<std::string>& process);
  // A launch has completed: drops the state of a standstill that is over.
  void Progressed() { kept_.reset(); }

  // The incident that the earlier agent remembered.
  std::optional<wire::IncidentMemory> Incident() const;
  // The alarms not yet sent, once, and not before the process is seen: an alarm makes
  // the coordinator collect from all workers.
  std::vector<wire::Alarm> TakeAlarms(absl::Duration now);
  // Adds the evidence of the earlier agent that may still hold: all of it if the runtime shows
  // nothing now, otherwise HLO and ages of sequencers that stand at the same position; and the
  // lines of the logs.
  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  std::optional<SavedState> kept_;
  bool process_seen_ = false;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_RESTORED_STATE_H_

// Inheritance holds the state that the agent before this one left of the same training process.
#ifndef RAPIDEYE_AGENT_CORE_INHERITANCE_H_
#define RAPIDEYE_AGENT_CORE_INHERITANCE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/kept_state.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Nothing of it is used for another process, another incarnation of the job, or
// another worker. A process that is not seen at all may be starting: what was kept
// stands in for it for a short while only.
class Inheritance {
 public:
  // `hello` is of this agent. What is not of its worker and job is left aside.
  Inheritance(std::optional<KeptState> kept, const wire::Hello& hello);

  // Forgets what is older than it may be. Call before anything else.
  void Expire(absl::Duration now);
  // The samples, or the host, show this process; absent: none was seen so far.
  void Watching(const std::optional<std::string>& process);
  // A launch has completed: what stood still does no more.
  void Progressed() { kept_.reset(); }

  // The incident that it remembered.
  std::optional<wire::IncidentMemory> Incident() const;
  // From where errors were counted; of use only for the process that it names.
  std::optional<CounterBaseline> Counters() const;
  // What nobody was told, once, and not before the process is seen: an alarm makes
  // the coordinator look at all workers.
  std::vector<wire::Alarm> TakeAlarms(absl::Duration now);
  // Adds what the worker showed then, as far as it can still be so: everything if
  // its runtime shows nothing now, otherwise HLO and ages where it stands still at
  // the same place; and what its logs said.
  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  std::optional<KeptState> kept_;
  bool process_seen_ = false;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_INHERITANCE_H_

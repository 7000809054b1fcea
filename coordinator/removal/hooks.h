// HookRunner runs the hooks that the remover requests, and returns their results.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_

#include <cstdint>
#include <string>

#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// One run of one hook, for one machine of one incident, or for an incident as a whole.
struct HookCall {
  std::string hook;  // its path
  // The machine and its incident (IncidentKey); without a host nothing is to be removed.
  Finding finding;
  std::string reason;         // of the decision
  std::string digest;         // JSON, for its standard input; empty if it is not available
  int64_t attempt = 1;        // more than 1: the hook may have run before, in part or in whole
  std::string ended_at = {};  // RFC 3339; only of the end of an incident
};

struct HookResult {
  bool ok = false;
  std::string outcome;  // "exit status 0", "killed after 1m"
  std::string output;   // what it printed; bounded when it is stored
};

// Runs hooks. Called on the remover's thread, one at a time; blocks until the hook has
// ended, or was stopped at its timeout.
class HookRunner {
 public:
  virtual ~HookRunner() = default;
  virtual HookResult Run(const HookCall& call) = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_

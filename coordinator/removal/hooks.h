// What the remover asks to be done, and what came of it.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_

#include <cstdint>
#include <string>

#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// One run of one hook, for one machine of one incident, or for an incident as a whole.
struct HookCall {
  std::string hook;     // its path
  Finding finding;      // which machine, and for what; no host: nothing is removed
  std::string reason;   // of the decision
  std::string digest;   // JSON, for its standard input; empty if nobody has it
  int64_t attempt = 1;  // more than 1: it may have run before, in part or in whole
};

struct HookResult {
  bool ok = false;
  std::string outcome;  // "exit status 0", "killed after 1m"
  std::string output;   // what it printed; bounded when it is stored
};

// Carries them out. Called on the remover's thread, one at a time; returns when the
// hook has ended, or was ended because its time was over.
class HookRunner {
 public:
  virtual ~HookRunner() = default;
  virtual HookResult Run(const HookCall& call) = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_H_

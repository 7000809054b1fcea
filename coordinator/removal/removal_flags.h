// The flags of removal: the same for a coordinator and for `rapideye remover`.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_FLAGS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/limits.h"
#include "coordinator/removal/policy/policy.h"

namespace CLI {
class App;
}  // namespace CLI

namespace rapideye::coordinator {

struct RemovalFlags {
  std::string fleet_db;  // empty: not given
  std::string removal = std::string(RemovalModeName(Policy{}.mode));
  std::vector<std::string> hooks;
  absl::Duration hook_timeout = kHookTimeout;
  Policy policy;  // but for its mode, which stands in `removal` until Check
};

// Where the history is. `help` says what is taken where the flag is not given.
void AddFleetDbFlag(CLI::App& app, std::string& fleet_db, const std::string& help);
// What the operator allows, but for whether it is done. `policy` must outlive the parsing.
void AddPolicyFlags(CLI::App& app, Policy& policy);
// All but --fleet-db. `flags` must outlive the parsing.
void AddRemovalFlags(CLI::App& app, RemovalFlags& flags);

// INVALID_ARGUMENT names the flag and what it may be.
absl::Status CheckPolicy(const Policy& policy);
// As CheckPolicy; sets the policy's mode, and looks at the hooks' files.
absl::Status CheckRemoval(RemovalFlags& flags);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_FLAGS_H_

// RemovalFlags declares the flags of removal: the same for a coordinator and `rapideye remover`.
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
  std::string tenant_machines;  // a file; empty: not given
  Policy policy;                // but for its mode, which stands in `removal` until Check
};

// Adds --fleet-db. `help` states the default, or the requirements of the history.
void AddFleetDbFlag(CLI::App& app, std::string& fleet_db, const std::string& help);
// Adds the limits of the policy, without its mode. `policy` must outlive the parsing.
void AddPolicyFlags(CLI::App& app, Policy& policy);
// Adds all flags but --fleet-db. `flags` must outlive the parsing.
void AddRemovalFlags(CLI::App& app, RemovalFlags& flags);

// INVALID_ARGUMENT if a file of --hook cannot be run, or others may change it.
absl::Status CheckHooks(const std::vector<std::string>& hooks);
// INVALID_ARGUMENT names the flag and its valid values.
absl::Status CheckPolicy(const Policy& policy);
// Adds --tenant-machines, for a program that decides about the findings of other roles.
void AddTenantMachinesFlag(CLI::App& app, std::string& path);
// Does as CheckPolicy; sets the policy's mode and tenants' machines, and checks the hooks' files.
absl::Status CheckRemoval(RemovalFlags& flags);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_FLAGS_H_

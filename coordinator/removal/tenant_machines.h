// ReadTenantMachines reads which machines run the jobs of which tenant, as the platform says.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_TENANT_MACHINES_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_TENANT_MACHINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/removal/policy/policy.h"

namespace rapideye::coordinator {

// Each line is a machine: a role, then the names of the machine (host, node, hardware), separated
// by blanks; * and ? are patterns, # begins a comment. Pure. INVALID_ARGUMENT names the line.
absl::StatusOr<std::vector<TenantMachine>> ParseTenantMachines(std::string_view text);

// Reads a file that belongs to root or this process's user and that no other user may write:
// PERMISSION_DENIED otherwise. Messages begin with "--tenant-machines".
absl::StatusOr<std::vector<TenantMachine>> ReadTenantMachines(const std::string& path);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_TENANT_MACHINES_H_

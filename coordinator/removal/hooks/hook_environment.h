// HookEnvironment makes a hook's environment: small, and independent of how the daemon started.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_ENVIRONMENT_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "coordinator/removal/hooks/hook_run.h"

namespace rapideye::coordinator {

// NAME=VALUE, by name: RAPIDEYE_CALLER, RAPIDEYE_EVENT, RAPIDEYE_INCIDENT, RAPIDEYE_REVISION,
// RAPIDEYE_CAUSE, RAPIDEYE_JOB, RAPIDEYE_REMOVE_HOSTS, RAPIDEYE_REMOVE_NODES, of a recovery
// RAPIDEYE_ENDED_AT, of a test RAPIDEYE_TEST; and of the daemon's own, PATH, HOME,
// what the platforms' tools need to find their service, and RAPIDEYE_HOOK_*, by which hooks are
// configured. Nothing else: the daemon's flags in the environment may hold the history's password.
// Entries without '=' and later ones of the same name are left out.
std::vector<std::string> HookEnvironment(const HookRun& call,
                                         const std::vector<std::string>& daemon);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_ENVIRONMENT_H_

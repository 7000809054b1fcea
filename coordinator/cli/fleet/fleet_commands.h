// FleetCommands makes the commands of rapideye fleet: the fleet history and its removals.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMANDS_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMANDS_H_

#include <memory>
#include <vector>

#include "coordinator/cli/command.h"

namespace rapideye::cli {

// Adds `rapideye fleet` and its commands to `app`, which outlives them.
std::vector<std::unique_ptr<Command>> FleetCommands(CLI::App& app);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMANDS_H_

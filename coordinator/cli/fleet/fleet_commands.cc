#include "coordinator/cli/fleet/fleet_commands.h"

#include "coordinator/cli/fleet/breaker.h"
#include "coordinator/cli/fleet/confirm.h"
#include "coordinator/cli/fleet/forget.h"
#include "coordinator/cli/fleet/machine_history.h"
#include "coordinator/cli/fleet/offenders.h"
#include "coordinator/cli/fleet/precision.h"

namespace rapideye::cli {

std::vector<std::unique_ptr<Command>> FleetCommands(CLI::App& app) {
  CLI::App& fleet = program::AddCommand(
      app, "fleet", "Query the fleet history: machines that fail repeatedly, and their removals");
  program::RequireCommand(fleet);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<OffendersCommand>(fleet));
  commands.push_back(std::make_unique<HistoryCommand>(fleet));
  commands.push_back(std::make_unique<ForgetCommand>(fleet));
  commands.push_back(std::make_unique<ConfirmCommand>(fleet));
  commands.push_back(std::make_unique<BreakerCommand>(fleet));
  commands.push_back(std::make_unique<PrecisionCommand>(fleet));
  return commands;
}

}  // namespace rapideye::cli

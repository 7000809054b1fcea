// rapideye fleet history: prints all records of a machine.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_MACHINE_HISTORY_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_MACHINE_HISTORY_H_

#include <string>

#include "coordinator/cli/fleet/fleet_command.h"

namespace rapideye::cli {

// Lists incidents, decisions with their reasons, hooks with their output, repairs. For a name that
// several machines have borne: those of each machine.
class HistoryCommand final : public FleetCommand {
 public:
  explicit HistoryCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;

 private:
  std::string host_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_MACHINE_HISTORY_H_

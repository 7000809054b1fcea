// rapideye fleet precision: prints how many removals were right.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_PRECISION_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_PRECISION_H_

#include <string>

#include "coordinator/cli/fleet/fleet_command.h"

namespace rapideye::cli {

// Prints per mode and cause, and in all: of the removals with a confirmed outcome, how
// many met a machine that was broken.
class PrecisionCommand final : public FleetCommand {
 public:
  explicit PrecisionCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_PRECISION_H_

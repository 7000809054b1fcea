// rapideye fleet breaker: prints whether removals are stopped, and allows them again.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_BREAKER_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_BREAKER_H_

#include <string>

#include "coordinator/cli/fleet/fleet_command.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::cli {

// Shows the breaker of each mode, and closes it on request: removals go on.
class BreakerCommand final : public FleetCommand {
 public:
  explicit BreakerCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;

 private:
  absl::StatusOr<std::string> Show(Fleet& fleet, coordinator::RemovalMode mode);
  absl::Status Close(Fleet& fleet, coordinator::RemovalMode mode);

  std::string action_;  // "close", or empty
  std::string mode_;
  Author author_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_BREAKER_H_

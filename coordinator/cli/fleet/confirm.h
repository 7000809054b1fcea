// rapideye fleet confirm: records the result of inspecting a machine.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_CONFIRM_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_CONFIRM_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/cli/fleet/fleet_command.h"

namespace rapideye::cli {

// The latest result for a machine of an incident counts: `fleet precision` sums these results up.
class ConfirmCommand final : public FleetCommand {
 public:
  explicit ConfirmCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;

 private:
  // The machine of the incident that the command line means.
  absl::StatusOr<std::string> Machine(Fleet& fleet) const;

  std::string incident_;
  std::string repair_;
  std::string host_;
  Author author_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_CONFIRM_H_

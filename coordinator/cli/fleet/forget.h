// rapideye fleet forget: records that a machine was repaired.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_FORGET_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_FORGET_H_

#include <string>

#include "coordinator/cli/fleet/fleet_command.h"

namespace rapideye::cli {

// Earlier incidents no longer count against the machine; they stay in its history.
class ForgetCommand final : public FleetCommand {
 public:
  explicit ForgetCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;

 private:
  std::string host_;
  Author author_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_FORGET_H_

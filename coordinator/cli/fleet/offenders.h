// rapideye fleet offenders: lists machines that fail again and again.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_OFFENDERS_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_OFFENDERS_H_

#include <cstdint>
#include <string>

#include "coordinator/cli/fleet/fleet_command.h"
#include "coordinator/fleet/reports.h"
#include "coordinator/removal/policy/policy.h"

namespace rapideye::cli {

// Lists hosts by their number of incidents in the window, with the policy's present decision about
// the latest incident, and its reason. Changes nothing.
class OffendersCommand final : public FleetCommand {
 public:
  explicit OffendersCommand(CLI::App& fleet);

 protected:
  absl::StatusOr<std::string> Answer(Fleet& fleet) override;

 private:
  absl::StatusOr<std::string> Describe(Fleet& fleet, const coordinator::Offender& offender);

  coordinator::Policy policy_;
  std::string tenant_machines_;
  std::string mode_;
  int64_t limit_ = 20;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_OFFENDERS_H_

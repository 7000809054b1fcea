// rapideye doctor: finds on a host the faults that would keep agent or coordinator from working.
#ifndef RAPIDEYE_COORDINATOR_CLI_DOCTOR_DOCTOR_H_
#define RAPIDEYE_COORDINATOR_CLI_DOCTOR_DOCTOR_H_

#include <string>
#include <vector>

#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"
#include "coordinator/cli/doctor/check.h"
#include "coordinator/cli/doctor/judge.h"

namespace rapideye::cli {

class DoctorCommand final : public Command {
 public:
  explicit DoctorCommand(CLI::App& app);

  // Returns 0 if no check is wrong, even if some are unknown; 1 if a check is wrong, or the result
  // cannot be written; 2 for wrong use.
  int Run() override;

 private:
  Checks CheckTls() const;
  absl::Status Record(const Checks& checks, const AgentAnswer& agent) const;

  CoordinatorFlags coordinator_;
  std::string format_ = "text";
  std::string state_dir_ = "/var/lib/rapideye";
  std::vector<std::string> peers_;
  std::string record_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DOCTOR_DOCTOR_H_

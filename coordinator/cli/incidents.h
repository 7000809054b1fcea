// rapideye incidents: lists the incidents in the coordinator's state directory.
#ifndef RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_
#define RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_

#include <cstdint>
#include <string>

#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

class IncidentsCommand final : public Command {
 public:
  explicit IncidentsCommand(CLI::App& app);

  // 0, also if there are none; 1 if the coordinator cannot tell.
  int Run() override;

 private:
  CoordinatorFlags coordinator_;
  std::string format_ = "text";
  int32_t limit_ = 20;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_

// rapideye acknowledge: states that an operator takes care of an incident.
#ifndef RAPIDEYE_COORDINATOR_CLI_ACKNOWLEDGE_H_
#define RAPIDEYE_COORDINATOR_CLI_ACKNOWLEDGE_H_

#include <string>

#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

class AcknowledgeCommand final : public Command {
 public:
  explicit AcknowledgeCommand(CLI::App& app);

  // 0; 1 if the coordinator refuses or does not answer; 2 for wrong use.
  int Run() override;

 private:
  CoordinatorFlags coordinator_;
  std::string id_;
  std::string reason_;
  std::string format_ = "text";
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_ACKNOWLEDGE_H_

// rapideye pause: suspends the watch over the job for a time.
#ifndef RAPIDEYE_COORDINATOR_CLI_PAUSE_H_
#define RAPIDEYE_COORDINATOR_CLI_PAUSE_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

// "ann@login-3", as the caller's environment states; it proves nothing.
std::string Caller();

class PauseCommand final : public Command {
 public:
  explicit PauseCommand(CLI::App& app);

  // 0; 1 if the coordinator refuses or does not answer; 2 for wrong use.
  int Run() override;

 private:
  CoordinatorFlags coordinator_;
  std::optional<absl::Duration> for_;
  std::string reason_;
  bool end_ = false;
  std::string format_ = "text";
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_PAUSE_H_

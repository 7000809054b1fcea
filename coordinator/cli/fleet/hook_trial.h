// rapideye hook-test: runs hooks for an invented incident, before the night in which they count.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_HOOK_TRIAL_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_HOOK_TRIAL_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/cli/command.h"
#include "coordinator/core/limits.h"

namespace rapideye::cli {

// Runs each hook as a coordinator does, in the environment of this process, when the incident
// opens, changes and recovers. No machine is named for removal, as in a dry run; RAPIDEYE_TEST and
// "test" in the digest mark the test. No coordinator is asked.
class HookTestCommand final : public Command {
 public:
  explicit HookTestCommand(CLI::App& app);

  // 0; 1 if a hook failed or the test was interrupted; 2 for wrong use.
  int Run() override;

 private:
  std::vector<std::string> hooks_;
  absl::Duration timeout_ = coordinator::kHookTimeout;
  std::string format_ = "text";
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_HOOK_TRIAL_H_

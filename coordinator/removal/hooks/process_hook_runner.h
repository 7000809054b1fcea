// ProcessHookRunner runs the hooks of removals, each as a process.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_PROCESS_HOOK_RUNNER_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_PROCESS_HOOK_RUNNER_H_

#include <string>
#include <vector>

#include "coordinator/removal/hooks.h"
#include "coordinator/removal/hooks/hook_process.h"

namespace rapideye::coordinator {

// Runs the calls of the remover's journal by RunHookProcess, one at a time.
class ProcessHookRunner final : public HookRunner {
 public:
  // `environment`: of this program, NAME=VALUE. Hooks inherit the part that
  // hook_environment.h states. `caller`, `job_by_worker`: as HookRun has them.
  ProcessHookRunner(const HookLimits& limits, std::vector<std::string> environment,
                    std::string caller = "coordinator", bool job_by_worker = false);
  ~ProcessHookRunner() override;
  ProcessHookRunner(const ProcessHookRunner&) = delete;
  ProcessHookRunner& operator=(const ProcessHookRunner&) = delete;

  HookResult Run(const HookCall& call) override;

  // From any thread, for good: stops the hook that runs and each that is run later.
  // These runs count as failed, so the journal has them run again after the next start.
  void Stop();

 private:
  const HookLimits limits_;
  const std::vector<std::string> environment_;
  const std::string caller_;
  const bool job_by_worker_;
  const int interrupt_;  // readable once it is time to stop
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_PROCESS_HOOK_RUNNER_H_

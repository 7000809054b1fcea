// RunHookProcess runs an executable once, within a time limit.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_PROCESS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_PROCESS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/removal/hooks/hook_run.h"

namespace rapideye::coordinator {

struct HookLimits {
  absl::Duration timeout;  // after it the hook is stopped (SIGTERM)
  absl::Duration grace;    // after it the hook is killed
  size_t max_output;
};

// Checks a flag that names a hook. INVALID_ARGUMENT states the problem and the remedy: the
// hook must be an executable file that only its owner may change; to the folders above
// it, sticky ones apart, neither their group nor others may write.
absl::Status CheckHook(const std::string& path);

// Runs `path` without arguments and without a shell, in a process group of its own and
// in the working directory of this program, and waits for it. `input` is its
// standard input; a hook that does not read it blocks nothing. The hook inherits no descriptor
// but the standard ones, and no blocked or ignored signal.
//
// Processes that the hook leaves in its group are killed when it ends or its time is up. Once
// `interrupt` (a descriptor, or -1) is readable the hook is stopped as if its time were up.
// Should this program be killed meanwhile, the hook outlives it.
//
// Blocks for at most timeout + 2 × grace. Thread-safe. No other thread may
// wait for children of any pid while it runs.
HookOutcome RunHookProcess(const std::string& path, const std::string& input,
                           std::vector<std::string> environment, const HookLimits& limits,
                           int interrupt);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_PROCESS_H_

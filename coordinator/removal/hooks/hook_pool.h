// Runs hooks beside everything else, a few at once, and again when they fail.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_POOL_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_POOL_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/limits.h"
#include "coordinator/removal/hooks/hook_process.h"
#include "coordinator/removal/hooks/hook_run.h"
#include "coordinator/removal/hooks/hook_schedule.h"

namespace rapideye::coordinator {

// One try of a hook, for the incident's record and the log.
struct HookReport {
  HookRun call;
  HookOutcome outcome;
  int attempt = 1;
  // Set: it failed and is tried again after this. Otherwise nothing more is done for
  // the call: it succeeded, or failed for good.
  std::optional<absl::Duration> retry_in = {};
};

// Thread-safe. What was added and not reported as done is forgotten when the runner
// goes: it is for the journal of its owner to add it again after the next start.
class HookPool {
 public:
  struct Options {
    HookSchedule::Options schedule = {.at_once = kMaxHooksAtOnce,
                                      .max_calls = kMaxHookRuns,
                                      .attempts = kHookPoolAttempts,
                                      .first_retry = kFirstHookPoolRetry,
                                      .longest_retry = kLongestHookPoolRetry};
    HookLimits limits = {
        .timeout = kHookTimeout, .grace = kHookGrace, .max_output = kMaxHookOutput};
    std::vector<std::string> environment;  // of this program, NAME=VALUE
  };
  // Called for every try, on a thread of the runner, that runs nothing else meanwhile;
  // several at once. Not called for a hook that Stop interrupted.
  using Report = std::function<void(const HookReport&)>;

  HookPool(Options options, Report report);
  ~HookPool();  // Stop
  HookPool(const HookPool&) = delete;
  HookPool& operator=(const HookPool&) = delete;

  // Errors of HookSchedule::Add; CANCELLED after Stop.
  absl::Status Add(HookRun call);
  // Begins nothing more, stops what runs, and returns when it has, within twice the
  // grace. Reports that are under way are waited for: not to be called from one.
  void Stop();

 private:
  void Work();

  const Options options_;
  const Report report_;
  const int interrupt_;  // readable once it is time to stop
  std::mutex mutex_;     // guards the next three
  std::condition_variable changed_;
  HookSchedule schedule_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_POOL_H_

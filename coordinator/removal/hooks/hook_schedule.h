// Which hook runs next, and when one that failed runs again.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_SCHEDULE_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/removal/hooks/hook_run.h"

namespace rapideye::coordinator {

// Pure. Every time is monotonic, since an origin that is the caller's.
//
// Calls begin in the order in which they were added, with these exceptions: never two
// at once that remove the same host; never two at once of the same incident, so that
// what is named first is done first (an upload before the restart of the job); and a
// call that failed and waits to be tried again holds up no other.
class HookSchedule {
 public:
  struct Options {
    size_t at_once;
    size_t max_calls;  // known at once, running ones included
    int attempts;
    absl::Duration first_retry;  // doubled each time, up to
    absl::Duration longest_retry;
  };
  explicit HookSchedule(const Options& options) : options_(options) {}

  // ALREADY_EXISTS if the same hook is to run, or runs, for the same incident and
  // hosts; RESOURCE_EXHAUSTED if max_calls are known: add it again later.
  absl::Status Add(HookRun call, absl::Duration now);

  struct Begun {
    int64_t id = 0;  // for Finish
    HookRun call = {};
    int attempt = 1;
  };
  // Marks the next call as running; nullopt if none may begin now.
  std::optional<Begun> Begin(absl::Duration now);

  struct Step {
    // Set: it failed and is tried again after this. Otherwise the schedule is done
    // with the call, whether it succeeded or not.
    std::optional<absl::Duration> retry_in = {};
  };
  // `id` must be running.
  Step Finish(int64_t id, bool succeeded, absl::Duration now);

  // When a call that waits is due; InfiniteDuration if none waits for the time alone.
  // One that is due already waits for a Finish: now or earlier is never returned.
  absl::Duration NextDue(absl::Duration now) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    int64_t id;
    HookRun call;
    absl::Duration due = absl::ZeroDuration();
    int attempts = 0;  // begun
    bool running = false;
  };
  absl::Duration RetryAfter(int attempts) const;

  const Options options_;
  std::list<Entry> entries_;  // in the order of Add
  int64_t next_id_ = 1;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_SCHEDULE_H_

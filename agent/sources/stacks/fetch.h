// Takes the stacks of the training process, at a hang only.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "agent/sources/process/state.h"
#include "agent/sources/stacks/limits.h"
#include "agent/sources/stacks/state.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

struct StackOptions {
  std::string proc_root = "/proc";
  // Paths of elfutils' eu-stack, for native stacks, and of py-spy, for those of Python; absent:
  // the tool was not found.
  std::optional<std::string> eu_stack;
  std::optional<std::string> py_spy;
  absl::Duration python_deadline = kPythonDeadline;  // for all processes together
  absl::Duration native_deadline = kNativeDeadline;
  absl::Duration idle_look = kIdleLook;
  absl::Duration max_hold = kMaxHold;
};

// Options with the tools of `path` (in the form of PATH), or of the packages.
StackOptions FindStackTools(std::string proc_root, const std::string& path);

// Takes Python's stacks of all threads of the process and of its children. py-spy reads them
// without stopping anything, also of a process that is stopped; if it could not read those of the
// process itself, it reads once more. Then, as far as `look` allows, takes the native frames of
// the main thread, which eu-stack stops for a moment: never in a stopped process, which stays
// stopped, while a running one runs on whatever becomes of the tools.
// Without the tools, or where they are not permitted, takes the kernel's word, and
// `unavailable` says so.
//
// Blocks until the deadlines at most, or until `cancel` is readable. `so_far` gets the stacks
// that were taken before a thread may be stopped.
StackReading TakeStacks(const StackOptions& options, const ProcessSample& process, StackLook look,
                        int cancel,
                        const std::function<void(const StackReading&)>& so_far = nullptr);

// Takes stacks on a thread of its own, one request at a time.
class StackTaker {
 public:
  explicit StackTaker(StackOptions options);
  // Gives up the look that is under way.
  ~StackTaker();
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Returns at once. Does nothing while another request is under way.
  void Start(const ProcessSample& process, StackLook look);
  // True if a tool may be stopping the process at this moment.
  bool may_hold() const;
  // The last stacks taken, once: first the stacks so far, then all; absent: none are ready.
  std::optional<StackReading> Finished();

 private:
  const StackOptions options_;
  const int cancel_;  // an eventfd
  mutable Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool may_hold_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<StackReading> finished_ ABSL_GUARDED_BY(mutex_);
  Worker worker_;  // last: its jobs use the others
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_

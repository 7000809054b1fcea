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
  // elfutils' eu-stack, for native stacks, and py-spy, for those of Python; absent: not
  // there.
  std::optional<std::string> eu_stack;
  std::optional<std::string> py_spy;
  absl::Duration python_deadline = kPythonDeadline;  // for all processes together
  absl::Duration native_deadline = kNativeDeadline;
  absl::Duration idle_look = kIdleLook;
  absl::Duration max_hold = kMaxHold;
};

// With the tools that are in the folders of `path` (as PATH has them).
StackOptions FindStackTools(std::string proc_root, const std::string& path);

// Takes Python's stacks of all threads of the process and of its children, which py-spy
// reads without stopping anything, also of a process that is stopped; those it could not
// read of the process itself it reads once more. Then, as far as `look` allows, the native
// frames of the main thread, for which eu-stack stops that for a moment: never in a process
// that is stopped, which stays so, and one that runs runs on whatever becomes of the tools.
// Without the tools, or where they are not permitted, the kernel's word is taken, and
// `unavailable` says so.
//
// Blocks until the deadlines at most, or until `cancel` is readable. `so_far` gets what is
// there before a thread may be stopped.
StackReading TakeStacks(const StackOptions& options, const ProcessSample& process, StackLook look,
                        int cancel,
                        const std::function<void(const StackReading&)>& so_far = nullptr);

// The same on a thread of its own, one at a time.
class StackTaker {
 public:
  explicit StackTaker(StackOptions options);
  // Gives up the look that is under way.
  ~StackTaker();
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Returns at once. Does nothing while another one is under way.
  void Start(const ProcessSample& process, StackLook look);
  // The process may be stopped by a tool at this moment.
  bool may_hold() const;
  // The stacks taken, once, and before that what there is so far; absent: none are ready.
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

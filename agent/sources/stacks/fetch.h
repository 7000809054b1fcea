// Takes the stacks of the training process, at a hang only.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_

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
  absl::Duration deadline = kStackDeadline;  // for all of it
};

// With the tools that are in the folders of `path` (as PATH has them).
StackOptions FindStackTools(std::string proc_root, const std::string& path);

// Blocks until the deadline at most, or until `cancel` is readable. eu-stack stops one
// thread after the other, each for a moment; py-spy reads without stopping. Without
// them, or where they are not permitted, the kernel's word is taken, and `unavailable`
// says so. A process that was found running runs on, whatever becomes of the tools; one
// that stands still is not touched.
StackReading TakeStacks(const StackOptions& options, const ProcessSample& process, int cancel);

// The same on a thread of its own, one at a time.
class StackTaker {
 public:
  explicit StackTaker(StackOptions options);
  // Gives up what is under way.
  ~StackTaker();
  StackTaker(const StackTaker&) = delete;
  StackTaker& operator=(const StackTaker&) = delete;

  // Returns at once. Does nothing while another one is under way.
  void Start(const ProcessSample& process);
  // The process may be stopped by a tool at this moment.
  bool busy() const;
  // The stacks taken, once; absent: none are ready.
  std::optional<StackReading> Finished();

 private:
  const StackOptions options_;
  const int cancel_;  // an eventfd
  mutable Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<StackReading> finished_ ABSL_GUARDED_BY(mutex_);
  Worker worker_;  // last: its jobs use the others
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_H_

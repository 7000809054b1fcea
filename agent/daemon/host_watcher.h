// HostWatcher reads the host's sources when the core asks, and by itself when a process ends.
#ifndef RAPIDEYE_AGENT_DAEMON_HOST_WATCHER_H_
#define RAPIDEYE_AGENT_DAEMON_HOST_WATCHER_H_

#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "agent/core/effects.h"
#include "agent/daemon/host_sources.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/thread.h"

namespace rapideye::agent {

// Runs on a thread of its own: a runtime that hangs or a coordinator that does not
// read does not delay it, and it does not delay them.
class HostWatcher {
 public:
  // Called on the watcher's thread, once per Poll that nothing newer replaced.
  using Sink = std::function<void(HostSampled)>;

  HostWatcher(const HostOptions& options, Sink sink);
  ~HostWatcher();
  HostWatcher(const HostWatcher&) = delete;
  HostWatcher& operator=(const HostWatcher&) = delete;

  // Returns at once.
  void Start(const Poll& poll);

 private:
  void Run();
  // Waits for a poll to begin, or for the end of the process, which gives a poll of number 0;
  // absent: the watcher is to end.
  std::optional<Poll> Await();
  void WakeUp() const;

  HostSources sources_;
  const Sink sink_;
  const int wake_;  // an eventfd
  Mutex mutex_;
  std::optional<Poll> next_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Thread thread_;  // last: it uses the others
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_HOST_WATCHER_H_

// LogWatcher follows the logs, on a thread of its own: a file system may block without limit.
#ifndef RAPIDEYE_AGENT_DAEMON_LOG_WATCHER_H_
#define RAPIDEYE_AGENT_DAEMON_LOG_WATCHER_H_

#include <functional>
#include <memory>

#include "agent/core/effects.h"
#include "agent/sources/log/fetch.h"
#include "proto/common/worker/thread.h"

namespace rapideye::agent {

class LogWatcher {
 public:
  // Called on the watcher's thread whenever there is something new; never once
  // the watcher is gone.
  using Sink = std::function<void(LogsRead)>;

  // With nothing to follow it does nothing, and starts no thread. Otherwise it waits for
  // the first look, though not for long: what is written afterwards is new. The
  // sink may be called before this returns.
  LogWatcher(LogOptions options, Sink sink);
  // Waits for no file system: a look under way is left behind.
  ~LogWatcher();
  LogWatcher(const LogWatcher&) = delete;
  LogWatcher& operator=(const LogWatcher&) = delete;

  // Recognises lines by this table from the next look on. Any thread.
  void Use(logs::SignatureTable signatures);

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this
  std::unique_ptr<Thread> thread_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_LOG_WATCHER_H_

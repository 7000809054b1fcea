// Looks at the host when the core asks, and by itself when a process ends.
#ifndef RAPIDEYE_AGENT_SHELL_HOST_WATCHER_H_
#define RAPIDEYE_AGENT_SHELL_HOST_WATCHER_H_

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "agent/core/effects.h"
#include "agent/sources/process/fetch.h"
#include "agent/sources/tcp/peers.h"
#include "classifier/evidence.h"

namespace rapideye::agent {

struct HostOptions {
  std::string runtime;  // HOST:PORT; where the training process listens
  std::string proc_root = "/proc";
  Peers peers;  // none: connections are not looked at
  WorkerId self;
};

// The sources of the host, read one after the other. Not synchronised.
class HostSources {
 public:
  explicit HostSources(const HostOptions& options);

  HostReading Read(bool with_sockets);
  // Readable once the training process ends; -1: there is none.
  int exit_descriptor() const;

 private:
  SocketReading ReadSockets(const std::set<uint64_t>& inodes) const;

  const Peers peers_;
  const WorkerId self_;
  std::optional<ProcessWatch> process_;
};

// A thread of its own: neither a runtime that hangs nor a coordinator that does
// not read delays it, nor it them.
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
  // Waits for a poll to begin or for the process to end, whose number is 0;
  // absent: the watcher is to end.
  std::optional<Poll> Await();
  void WakeUp() const;

  HostSources sources_;
  Sink sink_;
  const int wake_;  // an eventfd
  std::mutex mutex_;
  std::optional<Poll> next_;  // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SHELL_HOST_WATCHER_H_

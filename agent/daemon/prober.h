// Makes probes on a thread of its own.
#ifndef RAPIDEYE_AGENT_DAEMON_PROBER_H_
#define RAPIDEYE_AGENT_DAEMON_PROBER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "agent/core/effects.h"
#include "agent/sources/probe/fetch.h"

namespace rapideye::agent {

class Prober {
 public:
  // Called on the prober's thread, once per MakeProbes that nothing newer replaced.
  using Sink = std::function<void(ProbesMade)>;

  Prober(const ProbeOptions& options, Sink sink);
  // Waits for probes under way, which take at most their time.
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Returns at once.
  void Start(const MakeProbes& probes);

 private:
  void Run();

  const ProbeOptions options_;
  Sink sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<MakeProbes> next_;  // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  std::thread thread_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_PROBER_H_

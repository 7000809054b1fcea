// Prober makes probes on a thread of its own.
#ifndef RAPIDEYE_AGENT_DAEMON_PROBER_H_
#define RAPIDEYE_AGENT_DAEMON_PROBER_H_

#include <functional>

#include "agent/core/effects.h"
#include "agent/sources/probe/fetch.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

class Prober {
 public:
  // Called on the prober's thread, once per MakeProbes that nothing newer replaced.
  using Sink = std::function<void(ProbesMade)>;

  Prober(const ProbeOptions& options, Sink sink);
  // Waits for probes under way, which take at most their time.
  ~Prober() = default;

  // Returns at once.
  void Start(const MakeProbes& probes);

 private:
  const ProbeOptions options_;
  const Sink sink_;
  Worker worker_;  // last: its jobs use the others
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_PROBER_H_

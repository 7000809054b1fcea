// AgentTelemetry counts the agent's work and renders its page for Prometheus.
#ifndef RAPIDEYE_AGENT_DAEMON_AGENT_METRICS_H_
#define RAPIDEYE_AGENT_DAEMON_AGENT_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "agent/core/effects.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::agent {

struct AgentCounters {
  int64_t polls = 0;  // of the runtime
  int64_t polls_with_hlo = 0;
  int64_t polls_timed_out = 0;
  int64_t polls_unavailable = 0;
  int64_t log_events = 0;   // recognised lines
  int64_t connections = 0;  // to the coordinator, tried
  int64_t streams_lost = 0;
  int64_t messages_sent = 0;
  int64_t messages_received = 0;
  int64_t alarms = 0;
};

// Thread-safe: one thread notes, others read.
class AgentTelemetry {
 public:
  struct Values {
    AgentCounters counters;
    bool connected = false;        // a coordinator has welcomed this agent
    bool runtime_answers = false;  // when it was last asked
  };

  void Note(const Event& event);
  void Note(const Effect& effect);
  Values Get() const;

 private:
  mutable Mutex mutex_;
  Values values_ ABSL_GUARDED_BY(mutex_);
};

// rapideye_agent_*, and process_* of this process. `dropped_events`: of the
// EventQueue.
std::string RenderMetrics(const AgentTelemetry::Values& values, size_t dropped_events);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_AGENT_METRICS_H_

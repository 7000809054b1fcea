// Agent runs the core and the threads around it until a signal or the end of the process.
#ifndef RAPIDEYE_AGENT_DAEMON_AGENT_H_
#define RAPIDEYE_AGENT_DAEMON_AGENT_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/agent_core.h"
#include "agent/core/effects.h"
#include "agent/daemon/agent_metrics.h"
#include "agent/daemon/dump_reader.h"
#include "agent/daemon/event_queue.h"
#include "agent/daemon/exit_condition.h"
#include "agent/daemon/host_watcher.h"
#include "agent/daemon/log_watcher.h"
#include "agent/daemon/prober.h"
#include "agent/daemon/sampler.h"
#include "agent/daemon/state_file.h"
#include "agent/daemon/state_keeper.h"
#include "agent/daemon/stream_client.h"
#include "proto/common/secrets/redactor.h"

namespace rapideye::agent {

struct AgentOptions {
  AgentSettings core;
  HostOptions host;
  LogOptions logs;
  ProbeOptions probes;
  std::string coordinator;  // HOST:PORT
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // The file of the state that agents of this worker leave for the next one; absent:
  // none.
  std::optional<StateFile> state = std::nullopt;
  std::string hlo_dump_dir = {};    // empty: none
  secrets::Redactor redactor = {};  // of all that leaves the host, the log included
};

class Agent {
 public:
  explicit Agent(AgentOptions options);

  // Works until Stop, on the calling thread. Neither a runtime nor a
  // coordinator can make it end or wait.
  void Run();
  // Makes Run return within a few seconds, once the replies promised to the coordinator are on
  // their way. Any thread, any number of times.
  void Stop();

  // Recognises lines of the training logs by this table from now on. Any thread.
  void Use(logs::SignatureTable signatures) { logs_.Use(std::move(signatures)); }

  // For the page of metrics. Any thread.
  const AgentTelemetry& telemetry() const { return telemetry_; }
  size_t dropped_events() const { return events_.dropped(); }

  // Readable once the training process has ended and there is nothing to stay for.
  // Any thread.
  int exit_fd() const { return exit_condition_.fd(); }

 private:
  void CarryOut(const Effects& effects);
  void Write(const Log& log) const;

  const secrets::Redactor redactor_;
  AgentTelemetry telemetry_;
  ExitCondition exit_condition_;
  absl::Duration forget_at_ = absl::InfiniteDuration();  // until the first message has come
  EventQueue events_;
  std::unique_ptr<StateKeeper> keeper_;
  AgentCore core_;
  StreamClient coordinator_;
  Sampler sampler_;
  HostWatcher host_;
  LogWatcher logs_;
  std::unique_ptr<DumpReader> dumps_;  // null: there are none
  Prober prober_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_AGENT_H_

// AgentNode runs one agent of a simulation: its core, and the work of its shell.
#ifndef RAPIDEYE_TESTS_SIM_AGENT_NODE_H_
#define RAPIDEYE_TESTS_SIM_AGENT_NODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/agent_core.h"
#include "proto/common/time/instant.h"
#include "tests/scenarios/random.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/job.h"
#include "tests/sim/liar.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"
#include "tests/sim/referee.h"

namespace rapideye::sim {

class AgentNode : public AgentEnd {
 public:
  struct Around {
    const Options& options;
    const Job& job;
    Clockwork& clockwork;
    Network& network;
    Trace& trace;
    Referee& referee;
  };

  AgentNode(const Around& around, int worker, scenarios::Random random);

  // Another process of the agent begins, with a higher incarnation.
  void Start();
  // The agent is asked to end; or killed, in which case the coordinator may notice late.
  void ShutDown();
  void Kill(std::optional<absl::Duration> notices);
  // The job's log holds a hang line, whatever the job does.
  void SayHang();
  // The training process has ended, and the agent does not wait for a poll to see that.
  void NoticeEnd();

  Connection connection() const { return connection_; }
  WorkerId worker() const;

  void OnMessage(Connection connection, const std::string& bytes) override;
  void OnClosed(Connection connection, const absl::Status& status) override;

 private:
  agent::AgentSettings Settings();
  Instant Now() const;
  void Step(const agent::Event& event);
  void CarryOut(const agent::Effect& effect);
  void Sample(const agent::Poll& poll);
  void ReadDump(const agent::FetchModuleText& fetch);
  void Probe(const agent::MakeProbes& probes);
  // Runs an action of this process later, but not if another process has begun.
  template <typename Action>
  void Later(absl::Duration delay, Action action);

  Around around_;
  // Names in the agent's certificate, where agents have certificates.
  std::vector<std::string> CertificateNames() const;

  const int worker_;
  std::optional<Liar> liar_;
  scenarios::Random random_;
  Alarm alarm_;
  std::unique_ptr<agent::AgentCore> core_;  // null: no process
  int64_t incarnation_ = 0;
  Connection connection_ = 0;
  int64_t stream_ = 0;  // as the core calls it
  absl::Duration last_wake_ = -absl::InfiniteDuration();
  int wakes_at_once_ = 0;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_AGENT_NODE_H_

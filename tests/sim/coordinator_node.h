// CoordinatorNode runs the coordinator of a simulation: its core, the work of its shell, and a disk
// that outlives it.
#ifndef RAPIDEYE_TESTS_SIM_COORDINATOR_NODE_H_
#define RAPIDEYE_TESTS_SIM_COORDINATOR_NODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "coordinator/core/coordinator_core.h"
#include "tests/scenarios/random.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/job.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"
#include "tests/sim/referee.h"

namespace rapideye::sim {

class CoordinatorNode : public CoordinatorEnd {
 public:
  CoordinatorNode(const Options& options, const Job& job, Clockwork& clockwork, Network& network,
                  Trace& trace, Referee& referee, scenarios::Random random);

  void Start();
  // The coordinator is asked to end, and has ended at the latest a while later.
  void Stop();
  // The coordinator is killed: it forgets everything but its disk.
  void Kill();
  bool running() const { return core_ != nullptr; }
  const std::set<std::string>& disk() const { return disk_; }

  void OnOpened(Connection connection) override;
  void OnMessage(Connection connection, const std::string& bytes) override;
  void OnClosed(Connection connection) override;

 private:
  void Step(coordinator::Event event);
  void CheckSize();
  void CarryOut(coordinator::Effect& effect);
  void Conclude(const coordinator::Conclude& conclude);
  // The disk has the incident after a while, unless the coordinator is killed before.
  void Answer(const coordinator::IncidentConcluded& event);

  const Options& options_;
  const Job& job_;
  Clockwork& clockwork_;
  Network& network_;
  Trace& trace_;
  Referee& referee_;
  scenarios::Random random_;
  Alarm alarm_;
  std::unique_ptr<coordinator::CoordinatorCore> core_;  // null: no process
  int64_t process_ = 0;
  Speakers speakers_;
  std::set<Connection> unread_;  // what was malformed ends the reading
  std::set<std::string> disk_;
  std::set<std::string> unknown_;  // of these: the digest says UNKNOWN
  absl::Duration last_step_ = -absl::InfiniteDuration();
  int ticks_at_once_ = 0;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_COORDINATOR_NODE_H_

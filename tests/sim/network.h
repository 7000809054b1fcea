// Network carries the streams between agents and one coordinator, as bytes on their way.
//
// Each stream keeps its order and delays every message; it can break, and then
// each side notices when it notices (a half-open connection: late).
#ifndef RAPIDEYE_TESTS_SIM_NETWORK_H_
#define RAPIDEYE_TESTS_SIM_NETWORK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/scenarios/random.h"
#include "tests/sim/clockwork.h"

namespace rapideye::sim {

// One connection, and at the coordinator its stream. Never used twice.
using Connection = int64_t;

class AgentEnd {
 public:
  virtual ~AgentEnd() = default;
  virtual void OnMessage(Connection connection, const std::string& bytes) = 0;
  virtual void OnClosed(Connection connection, const absl::Status& status) = 0;
};

class CoordinatorEnd {
 public:
  virtual ~CoordinatorEnd() = default;
  virtual void OnOpened(Connection connection) = 0;
  virtual void OnMessage(Connection connection, const std::string& bytes) = 0;
  virtual void OnClosed(Connection connection) = 0;
};

class Network {
 public:
  Network(Clockwork& clockwork, scenarios::Random random, absl::Duration slowest)
      : clockwork_(clockwork), random_(random), slowest_(slowest) {}

  // Null: no coordinator listens.
  void SetCoordinator(CoordinatorEnd* coordinator) { coordinator_ = coordinator; }
  // The coordinator's process dies, and with it its ends of all streams; a few agents
  // notice late.
  void CoordinatorDies(double late, absl::Duration how_late);

  // `names`: of the agent's certificate; empty: it has none.
  Connection Connect(AgentEnd* agent, std::vector<std::string> names = {});
  const std::vector<std::string>& Names(Connection connection) const {
    return states_.at(connection).names;
  }
  void FromAgent(Connection connection, std::string bytes);
  void FromCoordinator(Connection connection, std::string bytes);
  // The close arrives behind the messages sent before.
  void AgentCloses(Connection connection);
  void CoordinatorCloses(Connection connection, const absl::Status& status);
  // No message passes any more; each side notices after a while.
  void Break(Connection connection, absl::Duration agent_notices,
             absl::Duration coordinator_notices);

  // Whole, and both ends know it.
  bool Whole(Connection connection) const;
  size_t ConnectionsAtCoordinator() const;

 private:
  struct State {
    AgentEnd* agent = nullptr;  // null: it is closed there
    std::vector<std::string> names;
    bool at_coordinator = false;
    bool broken = false;
    bool agent_closes = false;        // has said so, or its process is gone
    bool coordinator_closes = false;  // likewise
    absl::Duration to_agent;          // arrival of the last one sent
    absl::Duration to_coordinator;
  };

  // When what is sent now arrives, behind everything that was sent before.
  absl::Duration Arrival(absl::Duration& last);
  void CloseAtAgent(Connection connection, const absl::Status& status);
  void CloseAtCoordinator(Connection connection);

  Clockwork& clockwork_;
  scenarios::Random random_;
  absl::Duration slowest_;
  CoordinatorEnd* coordinator_ = nullptr;
  std::map<Connection, State> states_;
  Connection last_ = 0;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_NETWORK_H_

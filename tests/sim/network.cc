#include "tests/sim/network.h"

#include <algorithm>
#include <utility>

namespace rapideye::sim {

absl::Duration Network::Arrival(absl::Duration& last) {
  const auto slowest = absl::ToInt64Microseconds(slowest_);
  last = std::max(last, clockwork_.now() + absl::Microseconds(random_.Between(100, slowest)));
  return last;
}

Connection Network::Connect(AgentEnd* agent, std::vector<std::string> names) {
  const Connection connection = ++last_;
  State& state = states_[connection];
  state.agent = agent;
  state.names = std::move(names);
  clockwork_.At(Arrival(state.to_coordinator), [this, connection] {
    State& opening = states_.at(connection);
    if (opening.agent_closes) return;
    if (coordinator_ == nullptr) {
      clockwork_.At(Arrival(opening.to_agent), [this, connection] {
        CloseAtAgent(connection, absl::UnavailableError("connection refused"));
      });
      return;
    }
    opening.at_coordinator = true;
    coordinator_->OnOpened(connection);
  });
  return connection;
}

void Network::FromAgent(Connection connection, std::string bytes) {
  State& state = states_.at(connection);
  if (state.agent_closes) return;
  clockwork_.At(Arrival(state.to_coordinator), [this, connection, bytes = std::move(bytes)] {
    const State& arriving = states_.at(connection);
    if (arriving.broken || !arriving.at_coordinator || arriving.coordinator_closes) return;
    coordinator_->OnMessage(connection, bytes);
  });
}

void Network::FromCoordinator(Connection connection, std::string bytes) {
  State& state = states_.at(connection);
  clockwork_.At(Arrival(state.to_agent), [this, connection, bytes = std::move(bytes)] {
    const State& arriving = states_.at(connection);
    if (arriving.broken || arriving.agent == nullptr) return;
    arriving.agent->OnMessage(connection, bytes);
  });
}

void Network::AgentCloses(Connection connection) {
  State& state = states_.at(connection);
  state.agent_closes = true;
  state.agent = nullptr;
  clockwork_.At(Arrival(state.to_coordinator), [this, connection] {
    if (!states_.at(connection).broken) CloseAtCoordinator(connection);
  });
}

void Network::CoordinatorCloses(Connection connection, const absl::Status& status) {
  State& state = states_.at(connection);
  state.coordinator_closes = true;
  clockwork_.At(Arrival(state.to_agent), [this, connection, status] {
    if (!states_.at(connection).broken) CloseAtAgent(connection, status);
  });
  // The shell tells the core once the stream is done.
  clockwork_.After(absl::Milliseconds(1), [this, connection] { CloseAtCoordinator(connection); });
}

void Network::Break(Connection connection, absl::Duration agent_notices,
                    absl::Duration coordinator_notices) {
  states_.at(connection).broken = true;
  clockwork_.After(agent_notices, [this, connection] {
    CloseAtAgent(connection, absl::UnavailableError("keepalive timed out"));
  });
  clockwork_.After(coordinator_notices, [this, connection] { CloseAtCoordinator(connection); });
}

void Network::CoordinatorDies(double late, absl::Duration how_late) {
  coordinator_ = nullptr;
  for (auto& [connection, state] : states_) {
    const bool was_there = std::exchange(state.at_coordinator, false);
    if (state.agent == nullptr || (!was_there && !state.coordinator_closes)) continue;
    state.broken = true;
    const absl::Duration notices = random_.Chance(late) ? how_late : absl::Milliseconds(1);
    clockwork_.After(notices, [this, id = connection] {
      CloseAtAgent(id, absl::UnavailableError("Socket closed"));
    });
  }
}

void Network::CloseAtAgent(Connection connection, const absl::Status& status) {
  State& state = states_.at(connection);
  AgentEnd* agent = std::exchange(state.agent, nullptr);
  state.agent_closes = true;
  if (agent != nullptr) agent->OnClosed(connection, status);
}

void Network::CloseAtCoordinator(Connection connection) {
  State& state = states_.at(connection);
  if (std::exchange(state.at_coordinator, false)) coordinator_->OnClosed(connection);
}

bool Network::Whole(Connection connection) const {
  const auto found = states_.find(connection);
  return found != states_.end() && found->second.agent != nullptr && found->second.at_coordinator &&
         !found->second.broken && !found->second.coordinator_closes;
}

size_t Network::ConnectionsAtCoordinator() const {
  return static_cast<size_t>(std::count_if(states_.begin(), states_.end(), [](const auto& entry) {
    return entry.second.at_coordinator;
  }));
}

}  // namespace rapideye::sim

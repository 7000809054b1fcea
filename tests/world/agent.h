// Agent polls the runtime of one worker at its own times and tells what it saw: cores with
// ages that are as coarse as its polls.
#ifndef RAPIDEYE_TESTS_WORLD_AGENT_H_
#define RAPIDEYE_TESTS_WORLD_AGENT_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/world/engine.h"

namespace rapideye::world {

class Agent {
 public:
  Agent(const Engine& engine, int worker);

  // Reads the runtime; without an answer the last sample stays.
  void Poll();
  // The runtime, programs and cores of a snapshot taken now.
  void Describe(Snapshot& snapshot) const;
  RuntimeState runtime() const { return runtime_; }

 private:
  struct Position {
    int program = -1;  // -1: idle
    int32_t launch_id = 0;
    int64_t number = 0;
    int64_t pc = 0;
    int64_t tag = 0;
    int64_t tracemark = 0;
    bool operator==(const Position&) const = default;
  };
  struct Change {
    double at = 0;
    double within = 0;
    Position position;
  };
  struct Seen {
    int core = 0;  // of the engine
    Position position;
    std::optional<Launch> last;
    std::vector<Launch> queue;
    double since = 0;  // the first poll that showed the position
    double completed_since = 0;
    int64_t completed = -1;
    std::string error;
    std::deque<Change> changes;
  };

  Position PositionOf(const CoreState& core) const;
  void See(Seen& seen);
  Core Describe(const Seen& seen, int index) const;
  int32_t LaunchId(const Launch& launch) const;

  const Engine& engine_;
  int worker_;
  RuntimeState runtime_ = RuntimeState::kUnavailable;
  double last_poll_ = 0;
  int64_t polls_ = 0;
  std::vector<Seen> cores_;
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_AGENT_H_

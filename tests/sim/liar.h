// Liar falsifies what the agent of one worker says: it has that worker's certificate, and no
// other, and lies about progress, shape, machine, evidence, end and time.
#ifndef RAPIDEYE_TESTS_SIM_LIAR_H_
#define RAPIDEYE_TESTS_SIM_LIAR_H_

#include <cstdint>

#include "proto/wire/messages.h"
#include "tests/scenarios/random.h"
#include "tests/sim/job.h"

namespace rapideye::sim {

enum class Lie { kProgress, kShape, kMachine, kEvidence, kEnd, kTime, kAll };
inline constexpr int kLies = 7;

class Liar {
 public:
  Liar(const Job& job, int worker, scenarios::Random random);

  // The message as it is sent: within the rules of agent.proto, so that it costs no stream.
  void Falsify(wire::AgentMessage& message);
  Lie lie() const { return lie_; }

 private:
  bool Lies(Lie lie) { return lie_ == lie || (lie_ == Lie::kAll && random_.Chance(0.5)); }
  void Falsify(wire::Hello& hello);
  void Falsify(wire::Heartbeat& heartbeat);
  void Falsify(Snapshot& snapshot);
  void AddEvidence(Snapshot& snapshot);

  const Job& job_;
  const int worker_;
  scenarios::Random random_;
  const Lie lie_;
  int64_t completed_ = 0;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_LIAR_H_

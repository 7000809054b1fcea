// Hostile is a peer that is no agent of this job, or a broken one: it connects and sends messages
// that must cost it its stream, and no other peer anything.
#ifndef RAPIDEYE_TESTS_SIM_HOSTILE_H_
#define RAPIDEYE_TESTS_SIM_HOSTILE_H_

#include <string>

#include "proto/wire/messages.h"
#include "tests/scenarios/random.h"
#include "tests/sim/job.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"

namespace rapideye::sim {

class Hostile : public AgentEnd {
 public:
  Hostile(const Options& options, const Job& job, Network& network, scenarios::Random random)
      : options_(options), job_(job), network_(network), random_(random) {}

  // One stream, with a few messages of one kind of malice.
  void Attack();

  void OnMessage(Connection, const std::string&) override {}
  void OnClosed(Connection, const absl::Status&) override {}

 private:
  wire::Hello Impostor();
  std::string Garbage();
  bool WouldBeLearnt(const std::string& bytes) const;

  const Options& options_;
  const Job& job_;
  Network& network_;
  scenarios::Random random_;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_HOSTILE_H_

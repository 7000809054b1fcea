// Witnesses of a host: what its agent sees beside the runtime (processes, pages, stacks, logs,
// connections, probes).
#ifndef RAPIDEYE_TESTS_WORLD_WITNESSES_H_
#define RAPIDEYE_TESTS_WORLD_WITNESSES_H_

#include "proto/v1/evidence.h"
#include "tests/world/engine.h"
#include "tests/world/random.h"

namespace rapideye::world {

void DescribeHost(const Engine& engine, int worker, Random& random, Snapshot& snapshot);
void DescribeNetwork(const Engine& engine, int worker, Random& random, Snapshot& snapshot);

// True if agents of this worker can answer at all.
bool AgentAnswers(const Engine& engine, int worker);
std::string HostName(const Plan& plan, int worker);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_WITNESSES_H_

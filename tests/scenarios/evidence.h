// Turns a plan and its dynamics into the evidence that agents would have reported. One function per
// kind of evidence; each draws from its own stream of random numbers, so that a change to one
// leaves the others as they were.
#ifndef RAPIDEYE_TESTS_SCENARIOS_EVIDENCE_H_
#define RAPIDEYE_TESTS_SCENARIOS_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/dynamics.h"
#include "tests/scenarios/plan.h"
#include "tests/scenarios/random.h"

namespace rapideye::scenarios {

// The poll interval of an agent: what stands still is known to within it.
constexpr int64_t kPollMs = 5000;

// When things happened, on the clock of the dynamics.
struct Timing {
  int64_t fault_ms = 0;     // what broke stands since then
  int64_t detected_ms = 0;  // the alarm
  int64_t threshold_ms = 0;
  // The runtimes gave up, or kNever.
  int64_t aborted_ms = kNever;
};

struct Scene {
  const Plan& plan;
  const World& world;
  Timing timing;
  // Per worker: when its agent took the sample of its runtime that is in the
  // capture, and whether that runtime answered at the end.
  std::vector<int64_t> sampled_ms;
  std::vector<RuntimeState> runtimes;
  std::vector<bool> aborted;    // processes that gave up
  std::vector<bool> has_cores;  // there is a sample at all
  std::optional<int64_t> wavefront_poll_ms;
};

// The cores, queues and program table of a worker.
void AddCores(const Scene& scene, int worker, Random random, Snapshot& snapshot);

// Processes, progress page, stacks, log lines, PCIe counters.
void AddHost(const Scene& scene, int worker, Random random, Snapshot& snapshot);

// Evidence of a worker that has launched nothing: idle cores, a process that waits.
void AddStandbyEvidence(const Scene& scene, Random random, Snapshot& snapshot);

struct NetworkOptions {
  bool sockets = true;
  bool probes = true;
  bool transfers = false;
  bool ici_links = false;
  uint64_t seed = 0;  // which NIC a pair of workers uses; the same for all workers
};
void AddNetwork(const Scene& scene, int worker, const NetworkOptions& options, Random random,
                Snapshot& snapshot);
// The NIC that carries the traffic between two workers.
std::string NicOfPair(uint64_t seed, int worker, int peer);
// Workers that exchange messages with `worker` across slices, in order.
std::vector<int> Neighbours(const Job& job, int worker);

// Names the instruction at one core of each distinct position, the rarest
// positions first, or at all of them.
enum class HloSampling { kNone, kOnePerPosition, kEveryWorker };
void AddHlo(const Scene& scene, HloSampling sampling, Random random,
            std::vector<Snapshot>& snapshots);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_EVIDENCE_H_

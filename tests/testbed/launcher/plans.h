// Makes the plans behind the scenarios: each picks its victim and place from the seed and states
// the verdict that it must get.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_PLANS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_PLANS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "tests/testbed/launcher/scenario.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/program.h"

namespace rapideye::testbed {

// Picks of one scenario: the same for the same seed on every machine, which
// std::uniform_int_distribution does not promise.
class Picks {
 public:
  explicit Picks(uint64_t seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<uint64_t>(limit)); }
  // The worker on the picked machine: a broken machine stays broken when workers move.
  WorkerId Worker(const JobShape& shape) {
    return WorkerOn(shape, AllWorkers(shape)[static_cast<size_t>(Below(shape.workers()))]);
  }

 private:
  std::mt19937_64 engine_;
};

// The programs of a step as this slice of the plan's job runs them.
std::vector<ProgramPtr> StepOf(const JobPlan& plan, int slice);

Named Host(const JobPlan& plan, WorkerId worker);

// Faults of chips.
Injection BadChip(const JobPlan& plan);
Injection BadChipTail(const JobPlan& plan);
Injection BadChipAbort(const JobPlan& plan);
Injection BadChipKernelLog(const JobPlan& plan);
Injection BadChipPcie(const JobPlan& plan);
Injection CoreLoop(const JobPlan& plan);
Injection CoreHalt(const JobPlan& plan);
Injection CoreHaltHardware(const JobPlan& plan);
Injection SparseCore(const JobPlan& plan);

// Faults of programs.
Injection DifferentModule(const JobPlan& plan);
Injection FingerprintMismatch(const JobPlan& plan);
Injection FingerprintByFlag(const JobPlan& plan);
Injection FingerprintBySource(const JobPlan& plan);
Injection LaunchOrder(const JobPlan& plan);

// Faults of the network.
Injection LinkCut(const JobPlan& plan);
Injection HostCut(const JobPlan& plan);

// Faults of hosts: of the input for their chips, and of their processes.
Injection ProgramNotQueued(const JobPlan& plan);
Injection InputDry(const JobPlan& plan);
Injection InputDrySeen(const JobPlan& plan);
Injection InputDrySeveral(const JobPlan& plan);
Injection InputDryAll(const JobPlan& plan);
Injection InputDryEntry(const JobPlan& plan);
Injection ProcessKill(const JobPlan& plan);
Injection ProcessStop(const JobPlan& plan);
Injection ProcessExit(const JobPlan& plan);
Injection OutOfMemory(const JobPlan& plan);
Injection WorkerLost(const JobPlan& plan);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_PLANS_H_

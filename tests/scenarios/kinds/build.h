// Builds each kind of scenario: a job, the fault in it, and the truth about it.
#ifndef RAPIDEYE_TESTS_SCENARIOS_KINDS_BUILD_H_
#define RAPIDEYE_TESTS_SCENARIOS_KINDS_BUILD_H_

#include <vector>

#include "tests/scenarios/plan.h"
#include "tests/scenarios/random.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::scenarios {

// Builds a plan of any kind, by the family below that knows the kind.
Plan BuildPlan(Kind kind, Random& random);

Plan BuildChip(Kind kind, Random& random);
Plan BuildSparseCore(Kind kind, Random& random);
Plan BuildNetwork(Kind kind, Random& random);
Plan BuildDivergence(Kind kind, Random& random);
Plan BuildFingerprint(Kind kind, Random& random);
Plan BuildInput(Kind kind, Random& random);
Plan BuildHalt(Kind kind, Random& random);
Plan BuildLoss(Kind kind, Random& random);
Plan BuildCompound(Kind kind, Random& random);
Plan BuildUnknown(Kind kind, Random& random);
Plan BuildHealthy(Kind kind, Random& random);

// Pieces that several families use.

// A launch in which a fault may happen: the steps before it ran. With `entry` >= 0
// the launch is that one of its step.
int PickLaunch(const Job& job, Random& random, int entry = -1);
int PickWorker(const Job& job, Random& random);
int PickDevice(const Job& job, Random& random);
const Program& ProgramOf(const Job& job, int slice, int launch);

// A compute operation of the program before its last collective, or behind it.
// -1 if there is none.
int PickCompute(const Program& program, bool tail, Random& random);

// Breaks a device at an operation, the TensorCore or one of its SparseCores.
struct ChipFault {
  int device = 0;
  int launch = 0;
  int op = 0;
};
ChipFault AddChipFault(bool tail, Random& random, Plan& plan);
// Where every device sends its own messages and a cross-slice operation comes
// before the next collective, the culprit's counterpart in another slice stands as alone as
// the culprit does: only the name of the instruction tells which of them waits.
// (A message of a whole worker holds up whole workers, which no chip does.)
void NeedNameIfExchangeComesFirst(const Program& program, int op, Plan& plan);
Answer ChipAnswer(const Plan& plan, const std::vector<int>& devices, Detail detail);
Answer WorkerAnswer(const Plan& plan, Cause cause, Detail detail, const std::vector<int>& workers);

// Lines that follow a fault on some of the other hosts: heartbeats missed,
// continuators halted, barriers timed out. They name a host now and then, not
// always the right one.
void AddFollowOnLines(int culprit, Random& random, Plan& plan);

// A worker stops launching, and says why or does not.
void AddInputStall(int worker, int launch, Random& random, Plan& plan, bool* seen_waiting);

// Cuts the link between a worker and its neighbour in the next slice.
void AddDeadLink(int worker, int peer, int launch, Plan& plan);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_KINDS_BUILD_H_

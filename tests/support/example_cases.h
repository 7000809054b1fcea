// Makes small hand-built captures with their verdicts, one per cause, for tests.
#ifndef RAPIDEYE_TESTS_SUPPORT_EXAMPLE_CASES_H_
#define RAPIDEYE_TESTS_SUPPORT_EXAMPLE_CASES_H_

#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::digest {

struct ExampleCase {
  std::string name;         // file name of its golden
  std::string description;  // the input in words
  Capture capture;
  Verdict verdict;
};

// A job of `slices` x `tasks` workers with hosts "tpu-<slice>-<task>", four
// single-core chips each, all frozen for a minute at all-reduce.3 of one program.
Capture FrozenJob(int slices, int tasks);

// The main sequencer of a TensorCore.
Sequencer& SequencerAt(Capture& capture, int slice, int task, int chip);
Snapshot& SnapshotOf(Capture& capture, int slice, int task);

// One per cause, and one without a hang.
std::vector<ExampleCase> ExampleCases();

}  // namespace rapideye::digest

#endif  // RAPIDEYE_TESTS_SUPPORT_EXAMPLE_CASES_H_

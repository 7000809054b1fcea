// Runs the same fault of the same machine over several attempts of a job, and checks the decisions
// of the removal policy.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPEATS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPEATS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/testbed/launcher/experiment.h"
#include "tests/testbed/launcher/removals.h"
#include "tests/testbed/launcher/scenario.h"

namespace rapideye::testbed {

struct RepeatOptions {
  // Options of each attempt. All attempts share the state directory, and with it the
  // fleet history; the policy's limits are the coordinator's defaults.
  ExperimentOptions experiment;
  int times = 4;
  // The workers stay where they are; otherwise they change machines with every restart.
  bool same_place = false;
};

struct Attempt {
  Named culprit;  // where the machine stood
  Outcome outcome;
  Removals removals;     // what followed
  std::string expected;  // ExpectedAction

  // The decision about the culprit; null: none was made.
  const RemovalDecision* decision() const;
};

struct Repeated {
  std::vector<Attempt> attempts;
  // Output of `rapideye fleet history` about the machine afterwards.
  std::string history;
  // Errors of any verdict or decision; empty: all is right.
  std::vector<std::string> differences;
};

// INVALID_ARGUMENT if the policy cannot be shown with this.
absl::Status CheckRepeats(const RepeatOptions& options, const Scenario& scenario);

// The action that the policy should take on the attempt (from 0) that ended in this truth.
std::string ExpectedAction(const Truth& truth, int attempt, bool same_place);

// Each attempt is a new start of everything: the coordinator is of the job, and restarts
// with it. Ends early, with a difference, if one attempt brings no decision. Fails as
// RunExperiment does.
absl::StatusOr<Repeated> RunRepeats(const RepeatOptions& options, const Scenario& scenario);

// The machine's history, and what was decided beside what should be, for people.
std::string Report(const Repeated& repeated);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPEATS_H_

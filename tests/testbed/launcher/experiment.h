// RunExperiment runs one fault in one job, from a healthy start to a judged verdict.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_EXPERIMENT_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_EXPERIMENT_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testbed/launcher/incident.h"
#include "tests/testbed/launcher/job.h"
#include "tests/testbed/launcher/scenario.h"

namespace rapideye::testbed {

struct ExperimentOptions {
  JobOptions job;
  // How long the job runs healthily first, so that the daemons know its ways;
  // without a fault, how long nothing may be raised.
  absl::Duration healthy = absl::Seconds(4);
  // The fault heals so long after it took hold, the job goes on, and the same
  // happens to it once more, elsewhere; absent: it lasts.
  std::optional<absl::Duration> heal_after;
  // Agents killed just before the fault: their workers will be missing.
  std::vector<WorkerId> agents_to_kill;
  // Called with each incident once it is on disk, while the job still hangs; what it
  // returns ends the experiment unless it is OK. May be empty.
  std::function<absl::Status(Job& job, const Incident& incident)> after_verdict = {};
  // Called before everything is stopped, with the job as it then is. May be empty.
  std::function<void(Job& job)> before_end = {};
  // Told what happens, for people; may be null.
  std::ostream* narration = nullptr;
};

struct Outcome {
  Truth truth;
  std::optional<Incident> incident;  // the latest one
  // Faults of the verdict, or of the daemons' end; empty: all is right.
  std::vector<std::string> differences;
  // From the last launch completed anywhere to the complete incident on disk.
  absl::Time last_progress;
  absl::Duration latency;
};

// The product's promise for `latency` when every worker answers: the threshold
// of a launch that does not complete, one poll, and 1.5 s.
absl::Duration LatencyBound(const JobOptions& options);

// Brings the fault about, and returns once it has taken hold.
absl::Status Inject(Job& job, const Injection& injection);

// Runs the experiment and stops the job. Fails only if the experiment itself
// could not be carried out; a wrong verdict is an outcome.
absl::StatusOr<Outcome> RunExperiment(const ExperimentOptions& options, const Scenario& scenario);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_EXPERIMENT_H_

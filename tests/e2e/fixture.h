// Runs end-to-end tests: real daemons watch a real job while it is broken.
#ifndef RAPIDEYE_TESTS_E2E_FIXTURE_H_
#define RAPIDEYE_TESTS_E2E_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/testbed/launcher/experiment.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {

class EndToEndTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // keeps the state directory of a test that failed

  // Two slices of three workers with two chips each; short thresholds.
  ExperimentOptions Options(int programs, int seed) const;

  // Injects the scenario's fault and expects the verdict to be right, from the
  // live digest and from `rapideye diagnose` of its capture, and in time.
  void ExpectRightVerdict(const ExperimentOptions& options, const std::string& scenario);

  // Finding of `rapideye diagnose` for a capture.
  static absl::StatusOr<Finding> Diagnose(const std::string& capture);

  std::string state_dir_;
  Outcome outcome_;
};

// A test that acts on the processes of a job while it runs.
class RunningJobTest : public EndToEndTest {
 protected:
  static constexpr absl::Duration kPatience = absl::Seconds(60);

  void TearDown() override;  // ends the job first: it writes to the state directory

  // The usual options of a job.
  JobOptions JobLike(int seed) const { return Options(/*programs=*/1, seed).job; }
  // Starts the job; waits until all agents are connected and every worker has made some steps.
  void Start(JobOptions options);
  void Check(const absl::Status& status);
  // Waits until every worker has completed some more steps.
  void Advance();
  // Breaks something and waits until the coordinator begins to collect.
  Truth BreakAndAwaitCollection(const std::string& scenario, int seed);
  // Expects an incident after `beyond` others, with a verdict that is true.
  Incident ExpectIncident(const Truth& truth, size_t beyond);
  // Expects no further incident for longer than a hang would go unnoticed, and that all
  // processes end as they are asked to.
  void ExpectNoMoreThan(size_t incidents);

  std::unique_ptr<Job> job_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_E2E_FIXTURE_H_

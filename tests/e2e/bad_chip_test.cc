#include <gmock/gmock.h>

#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using BadChip = EndToEndTest;

TEST_F(BadChip, BeforeTheLastCollective) {
  const ExperimentOptions options = Options(/*programs=*/1, /*seed=*/2);
  ExpectRightVerdict(options, "bad-chip");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
}

TEST_F(BadChip, AfterTheLastCollective) {
  const ExperimentOptions options = Options(/*programs=*/2, /*seed=*/3);
  ExpectRightVerdict(options, "bad-chip-tail");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
}

TEST_F(BadChip, OfTwoTensorCores) {
  ExperimentOptions options = Options(/*programs=*/1, /*seed=*/4);
  options.job.shape.generation = *FindGeneration("v5p");
  ExpectRightVerdict(options, "bad-chip");
}

TEST_F(BadChip, AllRuntimesAbortOnTheHang) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/24), "bad-chip-abort");
}

TEST_F(BadChip, InAPipelineOfDifferentModules) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/25), "bad-chip-pipeline");
}

// A culprit that the kernel's log names is to be removed, and the verdict must say so; no
// other culprit is (Truth::removable).
TEST_F(BadChip, TheKernelsLogNamesIt) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/26), "bad-chip-kernel-log");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("severity=Uncorrected (Fatal)"));
}

TEST_F(BadChip, PcieCountsAFatalErrorOfIt) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/27), "bad-chip-pcie");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("PCIe reports 1 fatal error"));
}

using BadChipToldByTheJobsOwnAgent = RunningJobTest;

// The same evidence names the same chip, and removes nothing.
TEST_F(BadChipToldByTheJobsOwnAgent, IsNotEligibleAtOnce) {
  JobOptions options = JobLike(/*seed=*/29);
  FindScenario("bad-chip-kernel-log")->prepare(options);
  options.trusted_agents = false;
  Start(options);
  Injection injection = FindScenario("bad-chip-kernel-log")
                            ->plan({.shape = options.shape,
                                    .programs = options.programs,
                                    .seed = static_cast<uint64_t>(options.seed),
                                    .step = job_->StepOfSlowest()});
  injection.truth.removable = false;
  Check(Inject(*job_, injection));
  const Incident incident = ExpectIncident(injection.truth, 0);
  EXPECT_THAT(incident.text, testing::HasSubstr("severity=Uncorrected (Fatal)"));
  EXPECT_THAT(incident.text, testing::HasSubstr("is within the job's reach"));
}

using BadChipSeenByTwoAgents = RunningJobTest;

// The job may have written the file that keeps the first agent's readings: the second agent counts
// from its own first reading, and the chip is named by where it stands.
TEST_F(BadChipSeenByTwoAgents, AnErrorBeforeTheSecondBeganIsNotHeldAgainstTheChip) {
  JobOptions options = JobLike(/*seed=*/28);
  FindScenario("bad-chip-pcie")->prepare(options);
  Start(options);
  Injection injection = FindScenario("bad-chip-pcie")
                            ->plan({.shape = options.shape,
                                    .programs = options.programs,
                                    .seed = static_cast<uint64_t>(options.seed),
                                    .step = job_->StepOfSlowest()});
  const KernelTale tale = injection.tales.at(0);
  Check(job_->Tell(tale.worker, tale.fault, tale.chip));
  Check(job_->RestartAgent(tale.worker, Ending::kKilled));
  Advance();
  injection.tales.clear();
  injection.truth.removable = false;
  Check(Inject(*job_, injection));
  const Incident incident = ExpectIncident(injection.truth, 0);
  EXPECT_THAT(incident.text, testing::Not(testing::HasSubstr("PCIe reports")));
}

}  // namespace
}  // namespace rapideye::testbed

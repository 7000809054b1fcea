#include "tests/e2e/fixture.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/report.h"

namespace rapideye::testbed {
namespace {

constexpr absl::Duration kDiagnoseTimeout = absl::Seconds(30);
constexpr int64_t kSomeSteps = 10;

}  // namespace

void EndToEndTest::SetUp() {
  state_dir_ = testing::TempDir() + "rapideye-e2e-XXXXXX";
  ASSERT_NE(mkdtemp(state_dir_.data()), nullptr);
}

void EndToEndTest::TearDown() {
  if (HasFailure()) {
    std::cerr << "logs and incidents: " << state_dir_ << "\n";
  } else {
    std::filesystem::remove_all(state_dir_);
  }
}

ExperimentOptions EndToEndTest::Options(int programs, int seed) const {
  ExperimentOptions options;
  options.job.shape = {2, 3, 2, *FindGeneration("v6e")};
  options.job.programs = programs;
  options.job.seed = seed;
  options.job.poll_interval = absl::Milliseconds(500);
  options.job.launch_threshold = absl::Seconds(3);
  options.job.hang_threshold = absl::Seconds(6);
  options.job.program_dir = RAPIDEYE_PROGRAM_DIR;
  options.job.state_dir = state_dir_;
  options.healthy = absl::Seconds(3);
  options.narration = &std::cout;
  return options;
}

absl::StatusOr<Finding> EndToEndTest::Diagnose(const std::string& capture) {
  const absl::StatusOr<std::string> output = OutputOf(
      {absl::StrCat(RAPIDEYE_PROGRAM_DIR, "/rapideye"), "diagnose", "--format=json", capture},
      kDiagnoseTimeout);
  if (!output.ok()) return output.status();
  return ParseDigest(*output);
}

void EndToEndTest::ExpectRightVerdict(const ExperimentOptions& options, const std::string& name) {
  absl::StatusOr<Scenario> scenario = FindScenario(name);
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  absl::StatusOr<Outcome> outcome = RunExperiment(options, *scenario);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  outcome_ = *std::move(outcome);
  EXPECT_THAT(outcome_.differences, testing::IsEmpty()) << Report(options, outcome_);
  ASSERT_TRUE(outcome_.incident.has_value());
  std::cout << LatencyLine(options.job, outcome_) << "\n";

  const absl::StatusOr<Finding> offline = Diagnose(outcome_.incident->capture_path);
  ASSERT_TRUE(offline.ok()) << offline.status();
  const Finding& live = outcome_.incident->finding;
  EXPECT_EQ(offline->cause, live.cause);
  EXPECT_EQ(offline->detail, live.detail);
  EXPECT_EQ(offline->culprits, live.culprits);
  EXPECT_EQ(offline->missing, live.missing);
  EXPECT_EQ(offline->hlo_comparison, live.hlo_comparison);
}

void RunningJobTest::TearDown() {
  job_.reset();
  EndToEndTest::TearDown();
}

void RunningJobTest::Check(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }

void RunningJobTest::Start(JobOptions options) {
  absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(std::move(options));
  ASSERT_TRUE(job.ok()) << job.status();
  job_ = *std::move(job);
  if (job_->options().foreign_agents.empty()) Check(job_->AwaitAllConnected(kPatience));
  Advance();
}

void RunningJobTest::Advance() {
  Check(job_->AwaitStep(job_->StepOfSlowest() + kSomeSteps, kPatience));
}

Truth RunningJobTest::BreakAndAwaitCollection(const std::string& scenario, int seed) {
  const Injection injection = FindScenario(scenario)->plan({.shape = job_->options().shape,
                                                            .programs = job_->options().programs,
                                                            .seed = static_cast<uint64_t>(seed),
                                                            .step = job_->StepOfSlowest()});
  Check(Inject(*job_, injection));
  Check(job_->AwaitCoordinatorLog("collecting from", kPatience));
  return injection.truth;
}

Incident RunningJobTest::ExpectIncident(const Truth& truth, size_t beyond) {
  const absl::StatusOr<std::string> directory = job_->AwaitIncident(kPatience, beyond);
  if (!directory.ok()) {
    ADD_FAILURE() << directory.status();
    return {};
  }
  absl::StatusOr<Incident> incident = ReadIncident(*directory);
  if (!incident.ok()) {
    ADD_FAILURE() << incident.status();
    return {};
  }
  EXPECT_THAT(Differences(truth, incident->finding), testing::IsEmpty()) << incident->text;
  return *std::move(incident);
}

void RunningJobTest::ExpectNoMoreThan(size_t incidents) {
  Check(job_->Watch(LaunchThreshold(job_->options()) + absl::Seconds(2)));
  EXPECT_THAT(job_->Incidents(), testing::SizeIs(incidents));
  Check(job_->Stop());
}

}  // namespace rapideye::testbed

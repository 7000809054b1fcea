#include <gmock/gmock.h>

#include <memory>

#include "absl/time/clock.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

using Watch = EndToEndTest;

// Three times as long as it takes to raise a hang.
TEST_F(Watch, AHealthyJobRaisesNothing) {
  ExperimentOptions options = Options(/*programs=*/2, /*seed=*/7);
  options.healthy = absl::Seconds(10);
  const absl::StatusOr<Outcome> outcome = RunExperiment(options, *FindScenario("none"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->differences, IsEmpty());
}

// No program is queued and none runs, for longer than a launch may take.
TEST_F(Watch, AJobThatPausesAsForACheckpointRaisesNothing) {
  constexpr absl::Duration kPatience = absl::Seconds(30);
  constexpr int kStepsBetween = 15;
  JobOptions options = Options(/*programs=*/1, /*seed=*/5).job;
  options.pause_every = kStepsBetween * options.step_time;
  options.pause = 1.5 * LaunchThreshold(options);
  ASSERT_LT(options.pause, HangThreshold(options));
  absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(options);
  ASSERT_TRUE(job.ok()) << job.status();
  for (int pauses = 1; pauses <= 2; ++pauses) {
    const absl::Status before = (*job)->AwaitStep(pauses * kStepsBetween, kPatience);
    ASSERT_TRUE(before.ok()) << before;
    const absl::StatusOr<absl::Time> paused_at = (*job)->LastProgress();
    ASSERT_TRUE(paused_at.ok()) << paused_at.status();
    const absl::Status after = (*job)->AwaitStep(pauses * kStepsBetween + 1, kPatience);
    ASSERT_TRUE(after.ok()) << after;
    EXPECT_GT(absl::Now() - *paused_at, LaunchThreshold(options) + options.poll_interval);
  }
  EXPECT_THAT((*job)->Incidents(), IsEmpty());
  const absl::Status stopped = (*job)->Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
}

TEST_F(Watch, AWorkerWhoseAgentDiedIsListedAsMissing) {
  ExperimentOptions options = Options(/*programs=*/1, /*seed=*/2);
  // A bystander: this seed puts the fault at another worker.
  const WorkerId bystander{0, 2};
  const JobPlan plan = {.shape = options.job.shape, .programs = 1, .seed = 2, .step = 0};
  ASSERT_NE(FindScenario("bad-chip")->plan(plan).orders.front().worker, bystander);
  options.agents_to_kill = {bystander};
  ExpectRightVerdict(options, "bad-chip");
  ASSERT_TRUE(outcome_.incident.has_value());
  EXPECT_THAT(outcome_.incident->finding.missing, ElementsAre(Field(&Named::worker, bystander)));
}

}  // namespace
}  // namespace rapideye::testbed

#include <gmock/gmock.h>

#include "tests/e2e/fixture.h"

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

TEST_F(Watch, AWorkerWhoseAgentDiedIsListedAsMissing) {
  ExperimentOptions options = Options(/*programs=*/1, /*seed=*/2);
  // A bystander: the fault's own worker is another one for this seed.
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

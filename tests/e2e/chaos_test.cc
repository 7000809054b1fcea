// A minute of what testbed-chaos does for hours.
#include "tests/testbed/chaos/chaos.h"

#include <iostream>

#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using ChaosTest = EndToEndTest;

TEST_F(ChaosTest, RandomRestartsRaiseNothingAndHangsAreRaisedOnce) {
  ChaosOptions options;
  options.job = Options(/*programs=*/1, /*seed=*/6).job;
  options.job.launch_threshold = JobOptions().launch_threshold;
  options.duration = absl::Seconds(45);
  options.seed = 6;
  options.agents = absl::Seconds(3);
  options.jobs = absl::Seconds(12);
  options.coordinators = absl::Seconds(12);
  options.hangs = absl::Seconds(12);
  options.away = absl::Seconds(2);
  options.narration = &std::cout;
  const absl::StatusOr<ChaosOutcome> outcome = RunChaos(options);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->Passed()) << Report(*outcome);
  EXPECT_GT(outcome->hangs, 0);
  EXPECT_GT(outcome->restarts.size(), 2u);
}

}  // namespace
}  // namespace rapideye::testbed

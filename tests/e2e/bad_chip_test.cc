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

}  // namespace
}  // namespace rapideye::testbed

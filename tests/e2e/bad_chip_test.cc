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

// The removal of the culprit that the kernel names is part of the verdict; of all others
// none is (Truth::removable).
TEST_F(BadChip, TheKernelsLogNamesIt) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/26), "bad-chip-kernel-log");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("severity=Uncorrected (Fatal)"));
}

TEST_F(BadChip, PcieCountsAFatalErrorOfIt) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/27), "bad-chip-pcie");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("PCIe reports 1 fatal error"));
}

}  // namespace
}  // namespace rapideye::testbed

#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Divergence = EndToEndTest;

TEST_F(Divergence, DifferentModule) {
  const ExperimentOptions options = Options(/*programs=*/2, /*seed=*/5);
  ExpectRightVerdict(options, "different-module");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
}

TEST_F(Divergence, Fingerprint) {
  const ExperimentOptions options = Options(/*programs=*/1, /*seed=*/6);
  ExpectRightVerdict(options, "fingerprint");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
}

TEST_F(Divergence, OrderOfLaunches) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/21), "launch-order");
}

}  // namespace
}  // namespace rapideye::testbed

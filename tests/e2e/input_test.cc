#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Input = EndToEndTest;

TEST_F(Input, AHostQueuesNothingMore) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/8), "program-not-queued");
}

TEST_F(Input, OfOneWorkerDriesUp) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/9), "input-dry");
}

// As above, but Grain's page says that reading was slow all along.
TEST_F(Input, OfOneWorkerDriesUpThatWasSlowAllAlong) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/9), "input-dry-metrics");
}

TEST_F(Input, OfSeveralWorkersDriesUp) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/10), "input-dry-several");
}

TEST_F(Input, OfAllWorkersDriesUp) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/11), "input-dry-all");
}

TEST_F(Input, DriesUpForAProgramThatWasLaunched) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/12), "input-dry-entry");
}

}  // namespace
}  // namespace rapideye::testbed

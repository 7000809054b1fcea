#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Network = EndToEndTest;

TEST_F(Network, ALinkIsCut) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/22), "link-cut");
}

TEST_F(Network, AllLinksOfAWorkerAreCut) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/23), "host-cut");
}

}  // namespace
}  // namespace rapideye::testbed

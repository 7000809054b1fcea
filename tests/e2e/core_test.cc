#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Core = EndToEndTest;

TEST_F(Core, LoopsOnItsDevice) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/17), "core-loop");
}

TEST_F(Core, HaltsOnACheckOfItsProgram) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/18), "core-halt");
}

TEST_F(Core, HaltsOnAHardwareError) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/19), "core-halt-hardware");
}

TEST_F(Core, ASparseCoreStopsInOffloadedWork) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/20), "sparse-core");
}

}  // namespace
}  // namespace rapideye::testbed

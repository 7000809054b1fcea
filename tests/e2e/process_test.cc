#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Process = EndToEndTest;

TEST_F(Process, IsKilled) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/12), "process-kill");
}

TEST_F(Process, IsStopped) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/13), "process-stop");
}

TEST_F(Process, ExitsWithAnError) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/14), "process-exit");
}

TEST_F(Process, RunsOutOfMemory) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/15), "out-of-memory");
}

TEST_F(Process, VanishesWithItsAgent) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/16), "worker-lost");
}

}  // namespace
}  // namespace rapideye::testbed

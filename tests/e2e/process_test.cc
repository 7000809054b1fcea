#include <gmock/gmock.h>

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

// The agents have started the workers: they know how these ended, and what they wrote.
ExperimentOptions Started(ExperimentOptions options) {
  options.job.agents_start_workers = true;
  return options;
}

TEST_F(Process, IsKilledUnderItsAgent) {
  ExpectRightVerdict(Started(Options(/*programs=*/1, /*seed=*/17)), "process-kill");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("killed by signal 9"));
}

TEST_F(Process, ExitsWithAnErrorUnderItsAgent) {
  ExpectRightVerdict(Started(Options(/*programs=*/1, /*seed=*/18)), "process-exit");
  EXPECT_THAT(outcome_.incident->text, testing::HasSubstr("exited with status 1"));
}

TEST_F(Process, RunsOutOfMemoryUnderItsAgent) {
  ExpectRightVerdict(Started(Options(/*programs=*/1, /*seed=*/19)), "out-of-memory");
}

TEST_F(Process, VanishesWithItsAgent) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/16), "worker-lost");
}

}  // namespace
}  // namespace rapideye::testbed

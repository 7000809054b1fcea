#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "proto/capture/capture_reader.h"
#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Process = EndToEndTest;

TEST_F(Process, IsKilled) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/12), "process-kill");
}

TEST_F(Process, IsStopped) {
  // This test opens a chip's device, so that a process outside the job holds the chip.
  const std::string devices = testing::TempDir() + absl::StrCat("dev-", getpid());
  std::filesystem::create_directories(devices);
  setenv("RAPIDEYE_DEV_ROOT", devices.c_str(), /*overwrite=*/1);
  const int chip = open((devices + "/accel0").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(chip, 0);
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/13), "process-stop");
  unsetenv("RAPIDEYE_DEV_ROOT");
  close(chip);
  std::filesystem::remove_all(devices);

  ASSERT_TRUE(outcome_.incident.has_value());
  const auto capture = wire::ReadCaptureFile(outcome_.incident->capture_path);
  ASSERT_TRUE(capture.ok()) << capture.status();
  for (const Snapshot& snapshot : capture->snapshots) {
    ASSERT_EQ(snapshot.chip_holders.size(), 1u) << snapshot.host;
    EXPECT_EQ(snapshot.chip_holders[0].process.pid, getpid());
    EXPECT_THAT(snapshot.chip_holders[0].devices, ElementsAre("accel0"));
    // Of the stopped process the agent has only the stacks that the kernel tells.
    EXPECT_THAT(snapshot.stacks, Not(IsEmpty())) << snapshot.host;
  }
  EXPECT_THAT(outcome_.incident->text, HasSubstr("is not its training process, holds accel0"));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("its thread main (testbed-worker) stands in "));
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

#include "tests/testbed/launcher/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::testbed {
namespace {

// The launcher catches SIGTERM, and a child has its handlers until it executes its program.
TEST(ChildProcess, ASignalSentAtOnceReachesTheProgram) {
  struct sigaction before = {};
  struct sigaction caught = {};
  caught.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGTERM, &caught, &before), 0);
  for (int i = 0; i < 50; ++i) {
    absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
        {.command = {"/bin/sleep", "600"}, .environment = {}, .log_path = "", .on_line = {}});
    ASSERT_TRUE(child.ok()) << child.status();
    ASSERT_EQ(DescribeExit((*child)->Stop(absl::Seconds(60))), "was killed by signal 15");
  }
  sigaction(SIGTERM, &before, nullptr);
}

}  // namespace
}  // namespace rapideye::testbed

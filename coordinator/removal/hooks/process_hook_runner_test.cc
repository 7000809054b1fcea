#include "coordinator/removal/hooks/process_hook_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

class ProcessHookRunnerTest : public ::testing::Test {
 protected:
  ProcessHookRunnerTest() {
    std::string pattern = ::testing::TempDir() + "/removal-hook-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ProcessHookRunnerTest() override { (void)!system(("rm -rf " + folder_).c_str()); }

  HookCall Call(const std::string& body) {
    HookCall call;
    call.hook = folder_ + "/hook";
    std::ofstream(call.hook) << "#!/bin/sh\n" << body;
    chmod(call.hook.c_str(), 0755);
    call.finding.incident = "i1";
    call.finding.job = "train";
    call.finding.cause = "BAD_TPU_CHIP";
    call.finding.host = "host-3";
    call.finding.node = "node-3";
    call.digest = "{}";
    return call;
  }

  std::string folder_;
  ProcessHookRunner runner_{
      {.timeout = kHookTimeout, .grace = kHookGrace, .max_output = kMaxHookOutput},
      {"PATH=/usr/bin:/bin", "RAPIDEYE_FLEET_DB=postgresql://me:secret@db"}};
};

TEST_F(ProcessHookRunnerTest, AHookLearnsWhomToRemoveAndWhatFor) {
  const HookResult result = runner_.Run(Call("cat; env | grep ^RAPIDEYE_ | sort"));
  EXPECT_TRUE(result.ok) << result.outcome;
  EXPECT_EQ(result.outcome, "exited with status 0");
  EXPECT_EQ(result.output,
            "{}RAPIDEYE_CALLER=coordinator\n"
            "RAPIDEYE_CAUSE=BAD_TPU_CHIP\nRAPIDEYE_EVENT=opened\nRAPIDEYE_INCIDENT=i1\n"
            "RAPIDEYE_JOB=train\n"
            "RAPIDEYE_REMOVE_HOSTS=host-3\nRAPIDEYE_REMOVE_NODES=node-3\n"
            "RAPIDEYE_REVISION=1\n");
}

TEST_F(ProcessHookRunnerTest, AKeyTellsWhatHasHappenedButNoRemovalIsForARecovery) {
  HookCall call = Call("echo $RAPIDEYE_EVENT $RAPIDEYE_INCIDENT $RAPIDEYE_REVISION");
  call.finding.incident = "i1-r2";
  EXPECT_EQ(runner_.Run(call).output, "changed i1 2\n");
  call.finding.incident = "i1-r2-end";
  EXPECT_EQ(runner_.Run(call).output, "changed i1 2\n");
  call.finding.host.clear();
  EXPECT_EQ(runner_.Run(call).output, "recovered i1 2\n");
}

TEST_F(ProcessHookRunnerTest, AMachineWhoseNodeNobodyKnowsHasNone) {
  HookCall call = Call("echo \"[$RAPIDEYE_REMOVE_NODES]\"");
  call.finding.node.reset();
  EXPECT_EQ(runner_.Run(call).output, "[]\n");
}

TEST_F(ProcessHookRunnerTest, FailureIsTold) {
  const HookResult result = runner_.Run(Call("echo no such node; exit 1"));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.outcome, "exited with status 1");
  EXPECT_EQ(result.output, "no such node\n");
}

TEST_F(ProcessHookRunnerTest, OnceStoppedNoHookRunsToItsEnd) {
  runner_.Stop();
  const HookResult result = runner_.Run(Call("sleep 1000"));
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.outcome, HasSubstr("interrupted"));
}

}  // namespace
}  // namespace rapideye::coordinator

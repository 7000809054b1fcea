#include "coordinator/removal/hooks/hook_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HookProcessTest : public ::testing::Test {
 protected:
  HookProcessTest() {
    std::string pattern = ::testing::TempDir() + "/hook-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~HookProcessTest() override { (void)!system(("rm -rf " + folder_).c_str()); }

  std::string Script(const std::string& body, const std::string& interpreter = "#!/bin/sh\n") {
    const std::string path = folder_ + "/hook";
    std::ofstream(path) << interpreter << body;
    chmod(path.c_str(), 0755);
    return path;
  }
  HookOutcome Run(const std::string& path, const std::string& input = "") {
    return RunHookProcess(path, input, {"PATH=/usr/bin:/bin", "A=1"}, limits_, -1);
  }

  std::string folder_;
  HookLimits limits_ = {.timeout = absl::Minutes(1), .grace = absl::Minutes(1), .max_output = 1000};
};

TEST_F(HookProcessTest, ReadsItsInputPrintsAndSucceeds) {
  const auto outcome = Run(Script("cat; echo $A $#; echo oops >&2"), "{\"cause\": 1}\n");
  EXPECT_TRUE(outcome.succeeded()) << DescribeEnd(outcome);
  EXPECT_EQ(outcome.output, "{\"cause\": 1}\n1 0\noops\n");
  EXPECT_GT(outcome.took, absl::ZeroDuration());
}

TEST_F(HookProcessTest, ExitStatusIsKept) {
  const auto outcome = Run(Script("echo no; exit 3"));
  EXPECT_EQ(outcome.end, HookOutcome::End::kExited);
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_EQ(DescribeEnd(outcome), "exited with status 3");
  EXPECT_EQ(outcome.output, "no\n");
}

TEST_F(HookProcessTest, SignalIsKept) {
  const auto outcome = Run(Script("kill -ABRT $$"));
  EXPECT_EQ(outcome.end, HookOutcome::End::kSignalled);
  EXPECT_EQ(outcome.status, SIGABRT);
}

TEST_F(HookProcessTest, OneThatDoesNotReadBlocksNothing) {
  EXPECT_TRUE(Run(Script("exit 0"), std::string(10 << 20, 'x')).succeeded());
}

TEST_F(HookProcessTest, ALargeDigestArrivesWhole) {
  EXPECT_EQ(Run(Script("wc -c"), std::string(10 << 20, 'x')).output, "10485760\n");
}

TEST_F(HookProcessTest, OutputIsBounded) {
  const auto outcome = Run(Script("echo begin; head -c 1000000 /dev/zero; echo end"));
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_LT(outcome.output.size(), 1100u);
  EXPECT_THAT(outcome.output, StartsWith("begin\n"));
  EXPECT_THAT(outcome.output, HasSubstr(" bytes left out]"));
  EXPECT_TRUE(outcome.output.ends_with("end\n"));
}

TEST_F(HookProcessTest, WhatCannotBeStartedSaysWhy) {
  const auto none = Run(folder_ + "/none");
  EXPECT_EQ(none.end, HookOutcome::End::kNotStarted);
  EXPECT_THAT(DescribeEnd(none), HasSubstr("No such file or directory"));
  // Without a shell no interpreter is guessed.
  EXPECT_THAT(DescribeEnd(Run(Script("exit 0", ""))), HasSubstr("Exec format error"));
}

TEST_F(HookProcessTest, TimeLimitIsKept) {
  limits_.timeout = absl::Milliseconds(100);
  const auto outcome = Run(Script("sleep 1000"));
  EXPECT_EQ(outcome.end, HookOutcome::End::kTimedOut);
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_THAT(DescribeEnd(outcome), HasSubstr("--hook-timeout"));
}

TEST_F(HookProcessTest, WhoDoesNotStopIsKilled) {
  limits_.timeout = absl::Milliseconds(100);
  limits_.grace = absl::Milliseconds(100);
  const auto outcome = Run(Script("trap '' TERM\nsleep 1000 & echo $!; while :; do wait; done"));
  EXPECT_EQ(outcome.end, HookOutcome::End::kTimedOut);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // nothing is left to wait for
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(HookProcessTest, WhoPrintsWithoutPauseHasTheSameLimit) {
  limits_.timeout = absl::Milliseconds(100);
  EXPECT_EQ(Run("/usr/bin/yes").end, HookOutcome::End::kTimedOut);
}

TEST_F(HookProcessTest, WhatItLeavesBehindIsKilledAndNotWaitedFor) {
  // Its child holds the output open; a fifo tells of the child's end.
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reading = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto outcome = Run(Script("exec 3>" + fifo + "; sleep 1000 & echo done"));
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.output, "done\n");
  fcntl(reading, F_SETFL, 0);
  char byte;
  EXPECT_EQ(read(reading, &byte, 1), 0);  // blocks for as long as the child lives
  close(reading);
}

TEST_F(HookProcessTest, InheritsNoDescriptorAndNoSignal) {
  const int leak = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  const int target = fcntl(leak, F_DUPFD, 77);
  signal(SIGPIPE, SIG_IGN);
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  HookOutcome outcome;
  std::thread([&] {
    pthread_sigmask(SIG_BLOCK, &block, nullptr);
    // The last seven digits: signals 1 to 28; glibc has two above for itself.
    outcome =
        Run(Script("ls /proc/self/fd | tr '\\n' ' '\n"
                   "sed -nE 's/^Sig(Blk|Ign):.*(.{7})$/\\1 \\2/p' /proc/self/status"));
  }).join();
  close(leak);
  close(target);
  // The fourth descriptor is that of the directory that ls reads.
  EXPECT_EQ(outcome.output, "0 1 2 3 Blk 0000000\nIgn 0000000\n");
}

TEST_F(HookProcessTest, AnInterruptAsksTheWholeGroupToStop) {
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // The hook ends once its child has, which only the runner asks to end. The child itself reports
  // its start: between fork and exec a shell would lose the signal.
  const std::string hook = Script("trap 'wait; echo asked; exit 0' TERM\nsh -c 'echo >" + fifo +
                                  "; exec sleep 1000' & wait");
  const int interrupt = eventfd(0, EFD_CLOEXEC);
  std::thread begun([&] {
    std::string line;
    std::getline(std::ifstream(fifo), line);  // blocks until the hook has begun
    const uint64_t one = 1;
    EXPECT_EQ(write(interrupt, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  });
  const auto outcome = RunHookProcess(hook, "", {"PATH=/usr/bin:/bin"}, limits_, interrupt);
  begun.join();
  close(interrupt);
  EXPECT_EQ(outcome.end, HookOutcome::End::kInterrupted);
  EXPECT_EQ(outcome.output, "asked\n");
  EXPECT_THAT(DescribeEnd(outcome), HasSubstr("again"));
}

TEST_F(HookProcessTest, LeavesNoDescriptorBehind) {
  Run(Script("exit 0"));
  const int before = dup(0);
  for (int i = 0; i < 20; ++i) Run(folder_ + (i % 2 == 0 ? "/hook" : "/none"));
  const int after = dup(0);
  EXPECT_EQ(after, before + 1);
  close(before);
  close(after);
}

TEST_F(HookProcessTest, AHookOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  constexpr uid_t kAnother = 65534;
  const std::string path = Script("exit 0");
  ASSERT_EQ(chown(path.c_str(), kAnother, 0), 0);
  EXPECT_THAT(CheckHook(path).ToString(), HasSubstr("belongs to another user"));
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  EXPECT_TRUE(CheckHook(path).ok()) << CheckHook(path);
  ASSERT_EQ(chown(folder_.c_str(), kAnother, 0), 0);
  for (const mode_t mode : {0755, 01777}) {
    chmod(folder_.c_str(), mode);
    EXPECT_THAT(CheckHook(path).ToString(), HasSubstr("by the owner of"));
  }
}

// The links lead to a file that nobody else may change.
TEST_F(HookProcessTest, AHookWhoseLinkOthersMayReplaceIsRefused) {
  const std::string path = Script("exit 0");
  const std::string open_to_all = folder_ + "/open";
  std::filesystem::create_directory(open_to_all);
  const std::string first = folder_ + "/first";
  const std::string second = open_to_all + "/second";
  ASSERT_EQ(symlink("open/second", first.c_str()), 0);
  ASSERT_EQ(symlink(path.c_str(), second.c_str()), 0);
  EXPECT_TRUE(CheckHook(first).ok()) << CheckHook(first);
  chmod(open_to_all.c_str(), 0777);
  EXPECT_THAT(CheckHook(first).ToString(), HasSubstr("may be replaced by other users"));
  EXPECT_THAT(CheckHook(second).ToString(), HasSubstr("may be replaced by other users"));
}

TEST_F(HookProcessTest, AHookThatOthersMayReplaceIsRefused) {
  const std::string path = Script("exit 0");
  const std::string link = folder_ + "-link";
  const std::string real = std::filesystem::canonical(folder_);
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  for (const mode_t mode : {0777, 0775}) {
    chmod(folder_.c_str(), mode);
    EXPECT_THAT(CheckHook(path).ToString(), HasSubstr("chmod go-w " + real));
    EXPECT_THAT(CheckHook(link).ToString(), HasSubstr("chmod go-w " + real));
  }
  for (const mode_t mode : {01777, 0755}) {
    chmod(folder_.c_str(), mode);
    EXPECT_TRUE(CheckHook(path).ok()) << CheckHook(path);
    EXPECT_TRUE(CheckHook(link).ok()) << CheckHook(link);
  }
  unlink(link.c_str());
}

TEST_F(HookProcessTest, AHookIsCheckedBeforehand) {
  const std::string path = Script("exit 0");
  EXPECT_TRUE(CheckHook(path).ok()) << CheckHook(path);
  for (const mode_t mode : {0757, 0775}) {
    chmod(path.c_str(), mode);
    EXPECT_THAT(CheckHook(path).ToString(), HasSubstr("chmod go-w it"));
  }
  chmod(path.c_str(), 0644);
  EXPECT_THAT(CheckHook(path).ToString(), HasSubstr("chmod +x"));
  EXPECT_THAT(CheckHook(folder_).ToString(), HasSubstr("not a file"));
  EXPECT_THAT(CheckHook(folder_ + "/none").ToString(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace rapideye::coordinator

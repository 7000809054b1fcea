#include "proto/common/process/run_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace rapideye {
namespace {

using Stopped = ProcessOutcome::Stopped;

class RunProcessTest : public testing::Test {
 protected:
  // Options that run `script` in a shell.
  ProcessOptions Shell(const std::string& script) {
    ProcessOptions options;
    options.command = {"/bin/sh", "-c", script, "sh", "an argument"};
    options.environment = {"COLOUR=green", "PATH=/usr/bin:/bin"};
    options.output = [this](std::string_view bytes) {
      output_.append(bytes);
      return output_.size() < limit_;
    };
    options.timeout = absl::Minutes(5);
    return options;
  }

  std::string output_;
  size_t limit_ = 1'000'000;
};

TEST_F(RunProcessTest, TellsHowItEndedAndWhatItPrinted) {
  ProcessOptions options = Shell("cat; echo \"$1 $COLOUR $HOME\"; echo oops >&2; exit 3");
  std::string error_output;
  options.error_output = [&](std::string_view bytes) {
    error_output.append(bytes);
    return true;
  };
  const ProcessOutcome outcome = RunProcess(options);
  EXPECT_EQ(outcome.exit_status, 3);
  EXPECT_EQ(outcome.signal, std::nullopt);
  EXPECT_EQ(outcome.stopped, Stopped::kNo);
  EXPECT_EQ(output_, "an argument green \n");
  EXPECT_EQ(error_output, "oops\n");
}

TEST_F(RunProcessTest, BothOutputsComeInTheirOrder) {
  EXPECT_EQ(RunProcess(Shell("echo 1; echo 2 >&2; echo 3")).exit_status, 0);
  EXPECT_EQ(output_, "1\n2\n3\n");
}

TEST_F(RunProcessTest, SaysWhatFailedIfItDoesNotStart) {
  ProcessOptions options = Shell("");
  options.command = {"/no/such/program"};
  const ProcessOutcome outcome = RunProcess(options);
  EXPECT_EQ(outcome.not_started, "/no/such/program");
  EXPECT_EQ(outcome.error, ENOENT);
  EXPECT_EQ(outcome.exit_status, std::nullopt);
}

TEST_F(RunProcessTest, WithGraceItIsToldAndMayEndByItself) {
  const int interrupt = eventfd(0, EFD_CLOEXEC);
  ProcessOptions options = Shell("trap 'echo told; exit 7' TERM; echo begun; while :; do :; done");
  options.output = [&](std::string_view bytes) {
    output_.append(bytes);
    if (output_ == "begun\n") eventfd_write(interrupt, 1);
    return true;
  };
  options.interrupt = interrupt;
  options.grace = absl::Minutes(5);
  const ProcessOutcome outcome = RunProcess(options);
  EXPECT_EQ(outcome.stopped, Stopped::kInterrupted);
  EXPECT_EQ(outcome.exit_status, 7);
  EXPECT_EQ(output_, "begun\ntold\n");
  close(interrupt);
}

TEST_F(RunProcessTest, WithoutGraceItIsKilledWithItsChildren) {
  ProcessOptions options = Shell("trap '' TERM; sleep 1000 & wait");
  options.timeout = absl::Milliseconds(50);
  const ProcessOutcome outcome = RunProcess(options);
  EXPECT_EQ(outcome.stopped, Stopped::kTimedOut);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST_F(RunProcessTest, AnInterruptStopsIt) {
  const int interrupt = eventfd(1, EFD_CLOEXEC);
  ProcessOptions options = Shell("sleep 1000");
  options.interrupt = interrupt;
  EXPECT_EQ(RunProcess(options).stopped, Stopped::kInterrupted);
  close(interrupt);
}

TEST_F(RunProcessTest, EnoughOutputStopsIt) {
  limit_ = 100'000;
  const ProcessOutcome outcome = RunProcess(Shell("exec yes"));
  EXPECT_EQ(outcome.stopped, Stopped::kByOutput);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST_F(RunProcessTest, WhatItLeavesInItsGroupIsKilled) {
  // A child that was not killed would hold the pipe; here the pipe's end is not waited for.
  EXPECT_EQ(RunProcess(Shell("sleep 1000 & exit 0")).exit_status, 0);
}

TEST_F(RunProcessTest, MayRunOnWithItsOutputClosed) {
  ProcessOptions options = Shell("kill -PIPE $$; exit 5");
  EXPECT_EQ(RunProcess(options).signal, SIGPIPE);
  options.survives_closed_output = true;
  EXPECT_EQ(RunProcess(options).exit_status, 5);
}

}  // namespace
}  // namespace rapideye

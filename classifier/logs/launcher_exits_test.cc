#include "classifier/logs/launcher_exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/support/job_log_texts.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "3 signal 9", "3 code 1 of its node".
std::vector<std::string> ExitsIn(const std::string& text) {
  LauncherExits launcher;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    launcher.Take(absl::StripAsciiWhitespace(line), {},
                  [line] { return absl::StrContains(line, "reset by peer"); });
  }
  std::vector<std::string> exits;
  for (const TaskExit& exit : launcher.exits()) {
    exits.push_back(absl::StrCat(exit.task,
                                 exit.signal ? absl::StrCat(" signal ", *exit.signal) : "",
                                 exit.exit_code ? absl::StrCat(" code ", *exit.exit_code) : "",
                                 exit.of_node ? " of its node" : ""));
  }
  return exits;
}

TEST(LauncherExitsTest, OpenMpiNamesTheFirst) {
  EXPECT_THAT(ExitsIn("mpirun noticed that process rank 3 with PID 12345 on node node1 exited on "
                      "signal 9 (Killed)."),
              ElementsAre("3 signal 9"));
  const std::string code =
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[62107,1],3]\n  Exit code:    1\n";
  EXPECT_THAT(ExitsIn(code), ElementsAre("3 code 1"));
  EXPECT_THAT(ExitsIn("Process name: [prterun-node1-4242@1,12]\nExit code:    17"),
              ElementsAre("12 code 17"));
  EXPECT_THAT(ExitsIn("Exit code:    1"), IsEmpty());
}

TEST(LauncherExitsTest, SoDoOtherLaunchers) {
  EXPECT_THAT(ExitsIn("Process 3 exit with status code 1.\nProcess 1 exit with status code 143."),
              ElementsAre("3 code 1"));
  EXPECT_THAT(ExitsIn("Process name: 3\nExit code: 1"), ElementsAre("3 code 1"));
  EXPECT_THAT(
      ExitsIn("ERROR:  One or more process (first noticed rank 3) terminated with signal 11"),
      ElementsAre("3 signal 11"));
  EXPECT_THAT(ExitsIn("[2025-01-01 10:00:00,123] [ERROR] [launch.py:322:sigkill_handler] "
                      "['/usr/bin/python', '-u', 'train.py', '--local_rank=3'] exits with return "
                      "code = -9"),
              ElementsAre("3 signal 9 of its node"));
  EXPECT_THAT(ExitsIn("10.0.0.1: [2025-01-01 10:00:00,123] [ERROR] [launch.py:322:sigkill_handler] "
                      "['/usr/bin/python', '--local_rank=3'] exits with return code = -9"),
              IsEmpty());
  EXPECT_THAT(ExitsIn("[rank: 3] Child process with PID 4242 terminated with code -9. Forcefully "
                      "terminating all other processes to avoid zombies"),
              ElementsAre("3 signal 9 of its node"));
  EXPECT_THAT(ExitsIn("E1010 [multiproc_executor.py:230] RayWorkerProc rank=[3] died unexpectedly"),
              ElementsAre("3"));
  EXPECT_THAT(ExitsIn("Worker proc VllmWorker-1 died unexpectedly, shutting down executor."),
              ElementsAre("1"));
}

TEST(LauncherExitsTest, PyTorchsLaunchersNameTheFirstOfTheirNode) {
  EXPECT_THAT(ExitsIn("api.py:882] failed (exitcode: -9) local_rank: 7 (pid: 115533) of binary: x"),
              ElementsAre("7 signal 9 of its node"));
  EXPECT_THAT(
      ExitsIn("api.py:882] failed (exitcode: -9) local_rank: 7 (pid: 115533) of binary: x\n"
              "Root Cause (first observed failure):\n[0]:\n  rank      : 15 (local_rank: 7)\n"
              "  exitcode  : -9 (pid: 115533)\n"),
      ElementsAre("15 signal 9"));
  const std::string command =
      "subprocess.CalledProcessError: Command '['/opt/conda/bin/python', '-u', 'run.py', "
      "'--local_rank=7', '--epochs', '3']' ";
  EXPECT_THAT(ExitsIn(command + "returned non-zero exit status 1."),
              ElementsAre("7 code 1 of its node"));
  EXPECT_THAT(ExitsIn(command + "died with <Signals.SIGKILL: 9>."),
              ElementsAre("7 signal 9 of its node"));
}

TEST(LauncherExitsTest, SpawnNamesTheOneThatRaisedUnlessAnotherWasGoneBefore) {
  const std::string spawn = "torch.multiprocessing.spawn.";
  EXPECT_THAT(ExitsIn(spawn + "ProcessExitedException: process 3 terminated with signal SIGKILL"),
              ElementsAre("3 signal 9 of its node"));
  EXPECT_THAT(ExitsIn(spawn + "ProcessExitedException: process 3 terminated with exit code 17"),
              ElementsAre("3 code 17 of its node"));
  const std::string raised = absl::StrCat(
      spawn, "ProcessRaisedException: \n\n-- Process 3 terminated with the following error:\n",
      "Traceback (most recent call last):\n  File \"spawn.py\", line 74, in _wrap\n",
      "    fn(i, *args)\n");
  EXPECT_THAT(ExitsIn(raised + "ValueError: x"), ElementsAre("3 code 1 of its node"));
  EXPECT_THAT(ExitsIn(raised + "RuntimeError: Connection reset by peer"), IsEmpty());
}

TEST(LauncherExitsTest, SlurmNamesAllUntilItEndsTheRest) {
  EXPECT_THAT(ExitsIn("srun: error: node3: task 2: Killed\n"
                      "srun: error: node4: tasks 4-5,7: Exited with exit code 1\n"
                      "srun: Terminating StepId=123.0\n"
                      "srun: error: node1: tasks 0-1: Killed\n"),
              ElementsAre("2 signal 9", "4 code 1", "5 code 1", "7 code 1"));
}

TEST(LauncherExitsTest, NumbersOutOfRangeAreNone) {
  EXPECT_THAT(ExitsIn("srun: error: n: tasks 2147483647-2147483647: Killed\n"
                      "srun: error: n: tasks 99999999999,-5: Killed\n"
                      "srun: error: n: task 1: Exited with exit code 99999999999"),
              IsEmpty());
  EXPECT_THAT(ExitsIn("failed (exitcode: -2147483648) local_rank: 7 (pid: 1)"), IsEmpty());
  EXPECT_THAT(ExitsIn("failed (exitcode: -9) local_rank: 99999999999 (pid: 1)"), IsEmpty());
  EXPECT_EQ(ExitsIn("srun: error: n: tasks 0-999999: Killed").size(), 256U);
}

TEST(LauncherExitsTest, WhatTheLauncherEndsHasNotFailed) {
  EXPECT_THAT(ExitsIn("[rank: 1] Child process with PID 4242 terminated with code -15."),
              IsEmpty());
  EXPECT_THAT(ExitsIn("Process 1 exit with status code 143."), IsEmpty());
}

TEST(LauncherExitsTest, TheVerdictNamesTheTask) {
  const auto culprits = [](const std::string& words) { return Named(Diagnose({Health(words)})); };
  EXPECT_THAT(culprits("torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated "
                       "with signal SIGKILL\n"),
              ElementsAre(3));
  EXPECT_THAT(culprits("mpirun noticed that process rank 2 with PID 12345 on node node1 exited on "
                       "signal 11 (Segmentation fault).\n"),
              ElementsAre(2));
}

// A launcher may have started it again.
TEST(LauncherExitsTest, AnExitThatTheJobSurvivedIsNone) {
  std::string steps;
  for (int step = 11; step < 20; ++step) {
    absl::StrAppend(&steps, "2026-11-22 12:00:", step, " completed step: ", step, "\n");
  }
  const std::string ended =
      "api.py:882] failed (exitcode: -9) local_rank: 3 (pid: 1) of binary: x\n";
  EXPECT_THAT(Named(Diagnose({Health(steps + ended)})), ElementsAre(3));
  EXPECT_THAT(Named(Diagnose({Health(ended + steps)})), IsEmpty());
}

TEST(LauncherExitsTest, WhoFailedBecauseAnotherWasGoneIsNotNamed) {
  const std::string ended =
      "['/usr/bin/python', '-u', 'train.py', '--local_rank=3'] exits with return code = ";
  const auto culprits = [](const std::string& words) { return Named(Diagnose({Health(words)})); };
  EXPECT_THAT(culprits(ended + "1\n"), ElementsAre(3));
  EXPECT_THAT(culprits(kClosed + ended + "1\n"), IsEmpty());
  EXPECT_THAT(culprits(kClosed + ended + "-9\n"), ElementsAre(3));
  // An error of its own stands in the log, beside those of its victims.
  const JobEvidence evidence = Read(
      {{"train.log", Health(absl::StrCat("torch.cuda.OutOfMemoryError: CUDA out of memory. ",
                                         "Tried to allocate 2.00 GiB\n", kClosed, ended, "1\n"))}});
  EXPECT_TRUE(std::any_of(evidence.capture.snapshots.begin(), evidence.capture.snapshots.end(),
                          [](const Snapshot& one) { return one.worker.task == 3; }));
}

}  // namespace
}  // namespace rapideye::logs

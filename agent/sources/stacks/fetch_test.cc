#include "agent/sources/stacks/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/stacks/fetch_tool.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr size_t kMuch = 1 << 20;

std::string Path() {
  const char* path = getenv("PATH");
  return path == nullptr ? "/usr/bin:/bin" : path;
}

// A child that gives back every byte it gets, as long as it runs.
class Echo {
 public:
  explicit Echo(const std::function<void()>& first = [] {}) {
    int there[2];
    int back[2];
    EXPECT_EQ(pipe2(there, O_CLOEXEC) + pipe2(back, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      first();
      char byte;
      while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
      }
      _exit(0);
    }
    close(there[0]);
    close(back[1]);
    to_ = there[1];
    from_ = back[0];
  }
  ~Echo() {
    setpgid(pid_, pid_);
    kill(-pid_, SIGKILL);  // with its children
    waitpid(pid_, nullptr, 0);
    close(to_);
    close(from_);
  }

  pid_t pid() const { return pid_; }
  ProcessSample sample() const {
    std::ostringstream text;
    text << std::ifstream(absl::StrCat("/proc/", pid_, "/stat")).rdbuf();
    ProcessSample sample;
    sample.id = ParseProcessStat(text.str())->id;
    return sample;
  }
  ProcessState state() const {
    std::ostringstream text;
    text << std::ifstream(absl::StrCat("/proc/", pid_, "/stat")).rdbuf();
    return ParseProcessStat(text.str())->state;
  }
  void Stop() const {
    kill(pid_, SIGSTOP);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT);
  }
  bool RunsOn() const {
    char byte = 'x';
    pollfd answer = {from_, POLLIN, 0};
    return write(to_, &byte, 1) == 1 && poll(&answer, 1, 10'000) == 1 && read(from_, &byte, 1) == 1;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

class StacksTest : public testing::Test {
 protected:
  StacksTest() { std::filesystem::create_directories(folder_); }
  ~StacksTest() override {
    std::filesystem::remove_all(folder_);
    close(cancel_);
  }

  std::string Script(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(folder_, "/", name);

    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  StackReading Take(const StackOptions& options, const Echo& process) const {
    return TakeStacks(options, process.sample(), StackLook::kStopping, cancel_);
  }

  const std::string folder_ = testing::TempDir() + absl::StrCat("stacks-", getpid());
  const int cancel_ = eventfd(0, EFD_CLOEXEC);
};

TEST_F(StacksTest, AToolSaysWhatItFoundOrWhyNot) {
  const std::string tool = Script(
      "tool",
      "#!/bin/sh\necho found $1 \"$HOME$PATH_SECRET\"\necho first >&2; echo last >&2\nexit 3\n");
  const ToolRun run = RunTool({tool, "7"}, absl::Seconds(30), kMuch, cancel_);
  EXPECT_EQ(run.output, "found 7 \n");
  EXPECT_EQ(run.error, "last");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(run.in_time);
  EXPECT_FALSE(run.killed);
  EXPECT_THAT(RunTool({"/no/such/tool"}, absl::Seconds(30), kMuch, cancel_).error,
              HasSubstr("No such file"));
}

TEST_F(StacksTest, AToolsErrorStandsBeforeItsTrace) {
  const std::string tool = Script(
      "tool", "#!/bin/sh\necho 'Error: Permission denied\n\nStack backtrace:\n 0: main' >&2\n");
  EXPECT_EQ(RunTool({tool}, absl::Seconds(30), kMuch, cancel_).error, "Error: Permission denied");
}

TEST_F(StacksTest, AToolThatDoesNotEndIsKilledWithItsChildren) {
  const std::string tool = Script("tool", "#!/bin/sh\necho begun\nsleep 1000 &\nwait\n");
  const ToolRun late = RunTool({tool}, absl::Milliseconds(300), kMuch, cancel_);
  EXPECT_TRUE(late.killed);
  EXPECT_FALSE(late.in_time);
  EXPECT_EQ(late.output, "begun\n");

  eventfd_write(cancel_, 1);
  const ToolRun cancelled = RunTool({tool}, absl::Seconds(1000), kMuch, cancel_);
  EXPECT_TRUE(cancelled.killed);
  EXPECT_TRUE(cancelled.in_time);
}

TEST_F(StacksTest, AToolThatTalksWithoutEndIsCut) {
  const std::string tool = Script("tool", "#!/bin/sh\nexec yes\n");
  const ToolRun run = RunTool({tool}, absl::Seconds(1000), 100'000, cancel_);
  EXPECT_TRUE(run.killed);
  EXPECT_THAT(run.output, SizeIs(100'000));
}

TEST_F(StacksTest, OfAProcessThatRunsOn) {
  const Echo process;
  const StackOptions options = FindStackTools("/proc", Path());
  if (!options.eu_stack.has_value()) GTEST_SKIP() << "no eu-stack here";
  EXPECT_TRUE(process.RunsOn());  // it has left fork(), and now reads, or still ends its answer
  const StackReading reading = Take(options, process);
  ASSERT_THAT(reading.stacks, Not(IsEmpty())) << reading.unavailable;
  EXPECT_THAT(reading.stacks[0].thread, HasSubstr("main ("));
  EXPECT_THAT(reading.stacks[0].frames, Contains(AnyOf(HasSubstr("read"), HasSubstr("write"))));
  EXPECT_TRUE(process.RunsOn());
}

// Holds the process for good, as a tracer that hangs does.
constexpr char kHoldsForGood[] = R"(#!/usr/bin/python3
import ctypes, os, sys, time
pid = int(sys.argv[-1])
if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
    os.waitpid(pid, 0x40000000)
    open("$", "w").close()
time.sleep(1000)
)";

// A tracer that is killed while it holds a thread leaves that thread stopped.
TEST_F(StacksTest, AProcessThatATracerHeldWhenItWasKilledRunsOn) {
  const Echo process;
  StackOptions options;
  options.native_deadline = absl::Seconds(2);
  options.max_hold = absl::Hours(1);
  const std::string held = folder_ + "/held";
  options.eu_stack = Script("eu-stack", absl::StrReplaceAll(kHoldsForGood, {{"$", held.c_str()}}));
  EXPECT_THAT(Take(options, process).unavailable, HasSubstr("eu-stack was not done within 2s"));
  if (!std::filesystem::exists(held)) GTEST_SKIP() << "nothing may be traced here";
  EXPECT_TRUE(process.RunsOn());
}

TEST_F(StacksTest, ATracerThatHoldsForTooLongIsEnded) {
  const Echo process;
  StackOptions options;
  options.native_deadline = absl::Hours(1);
  options.max_hold = absl::Milliseconds(100);
  options.eu_stack = Script(
      "eu-stack", absl::StrReplaceAll(kHoldsForGood, {{"$", folder_ + "/held"}, {"1000", "2"}}));
  const StackReading reading = Take(options, process);
  if (!std::filesystem::exists(folder_ + "/held")) GTEST_SKIP() << "nothing may be traced here";
  EXPECT_THAT(reading.unavailable, HasSubstr("held the main thread for too long"));
  EXPECT_TRUE(process.RunsOn());
}

constexpr char kMarks[] = "#!/bin/sh\ntouch $/used\nprintf 'TID 1:\\n#0 0x1 idle\\n'\n";

TEST_F(StacksTest, AProcessThatIsStoppedStaysSoAndIsReadAllTheSame) {
  const Echo process;
  process.Stop();
  StackOptions options;
  options.eu_stack = Script("eu-stack", absl::StrReplaceAll(kMarks, {{"$", folder_}}));
  options.py_spy = Script("py-spy", R"(#!/bin/sh
echo '[{"thread_name":"MainThread","frames":[{"name":"f","filename":"a.py","line":3}]}]'
)");
  const StackReading reading = Take(options, process);
  EXPECT_THAT(reading.unavailable, HasSubstr("it is stopped"));
  ASSERT_THAT(reading.stacks, Not(IsEmpty()));
  EXPECT_THAT(reading.stacks[0].frames, ElementsAre("f (a.py:3)"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/used"));
  EXPECT_EQ(process.state(), ProcessState::kStopped);
}

TEST_F(StacksTest, OnlyWhoStandsIsStopped) {
  const Echo process;
  StackOptions options;
  options.idle_look = absl::Milliseconds(50);
  options.eu_stack = Script("eu-stack", absl::StrReplaceAll(kMarks, {{"$", folder_}}));
  TakeStacks(options, process.sample(), StackLook::kReading, cancel_);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/used"));
  // A look at it that makes it run: it may be one that advances.
  TakeStacks(options, process.sample(), StackLook::kIfIdle, cancel_,
             [&](const StackReading&) { EXPECT_TRUE(process.RunsOn()); });
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/used"));
  TakeStacks(options, process.sample(), StackLook::kIfIdle, cancel_);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/used"));
}

TEST_F(StacksTest, OfPythonAndOfTheProcessTogether) {
  const Echo process;
  StackOptions options;
  options.py_spy = Script("py-spy", R"(#!/bin/sh
echo '[{"thread_name":"MainThread","frames":[{"name":"'"$*"'"}]}]'
)");
  options.eu_stack = Script("eu-stack", "#!/bin/sh\nprintf \"TID $6:\\n#0 0x1 $*\\n\"\nexit 1\n");
  std::vector<Stack> so_far;
  const StackReading reading = TakeStacks(options, process.sample(), StackLook::kStopping, cancel_,
                                          [&](const StackReading& part) { so_far = part.stacks; });
  EXPECT_THAT(so_far, SizeIs(1));
  EXPECT_THAT(reading.unavailable, IsEmpty());
  ASSERT_THAT(reading.stacks, SizeIs(2));
  EXPECT_THAT(reading.stacks[0].frames,
              ElementsAre(absl::StrCat("dump --nonblocking --json --pid ", process.pid())));
  EXPECT_THAT(reading.stacks[1].frames, ElementsAre(HasSubstr("-1 -m -n")));
}

// py-spy's stand-in tells which process it was asked for, and fails the first time.
TEST_F(StacksTest, ChildrenAreReadTooAndTheProcessOnceMoreIfNothingCame) {
  const Echo process([] {
    for (int i = 0; i < 2; ++i) {
      if (fork() == 0) pause();
    }
  });
  ASSERT_TRUE(process.RunsOn());  // it has begun its children
  StackOptions options;
  options.py_spy = Script("py-spy", absl::StrReplaceAll(R"(#!/bin/sh
test -e $/tried || { touch $/tried; echo 'Error: reading failed' >&2; exit 1; }
echo '[{"thread_name":"MainThread","frames":[{"name":"of '"$5"'"}]}]'
)",
                                                        {{"$/", folder_ + "/"}}));
  const StackReading reading = TakeStacks(options, process.sample(), StackLook::kReading, cancel_);
  EXPECT_THAT(reading.unavailable, IsEmpty());
  ASSERT_GE(reading.stacks.size(), 3);
  EXPECT_EQ(reading.stacks[0].thread, "MainThread");
  EXPECT_THAT(reading.stacks[0].frames, ElementsAre(absl::StrCat("of ", process.pid())));
  EXPECT_THAT(reading.stacks, Contains(Field(&Stack::thread, HasSubstr("): MainThread"))).Times(2));
}

TEST_F(StacksTest, WhatMayNotBeReadIsSaidWithWhatHelps) {
  const Echo process;
  StackOptions options;
  options.py_spy = Script("py-spy", "#!/bin/sh\necho 'Error: Permission denied' >&2\nexit 1\n");
  const StackReading reading = TakeStacks(options, process.sample(), StackLook::kReading, cancel_);
  EXPECT_THAT(reading.unavailable,
              AllOf(HasSubstr("py-spy: Error: Permission denied ("), HasSubstr("CAP_SYS_PTRACE")));
  // A process of another language lacks no Python stacks.
  options.py_spy =
      Script("other",
             "#!/bin/sh\necho 'Error: Failed to find python version from target process' >&2\n"
             "exit 1\n");
  EXPECT_THAT(TakeStacks(options, process.sample(), StackLook::kReading, cancel_).unavailable,
              IsEmpty());
}

TEST_F(StacksTest, WithoutToolsTheKernelsWordIsTaken) {
  std::filesystem::create_directories(folder_ + "/30/task/30");
  std::ofstream(folder_ + "/30/stat")
      << "30 (train) S 1 1 1 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 400 0 0 0 4096 0 0\n";
  std::ofstream(folder_ + "/30/task/30/comm") << "python3\n";
  std::ofstream(folder_ + "/30/task/30/wchan") << "futex_wait_queue";
  ProcessSample process;
  process.id = {30, 400};
  StackOptions options;
  options.proc_root = folder_;
  const StackReading reading = TakeStacks(options, process, StackLook::kStopping, cancel_);
  ASSERT_THAT(reading.stacks, SizeIs(1));
  EXPECT_EQ(reading.stacks[0].thread, "main (python3)");
  EXPECT_THAT(reading.stacks[0].frames, ElementsAre("futex_wait_queue (kernel)"));

  process.id.start_ticks = 900;  // the number was given to another
  EXPECT_EQ(TakeStacks(options, process, StackLook::kReading, cancel_).unavailable,
            "the process has ended");
  EXPECT_THAT(Take(StackOptions(), Echo()).unavailable, HasSubstr("neither py-spy"));
}

TEST_F(StacksTest, TheTakerWorksBesideAndGivesUpWhenItIsToEnd) {
  const Echo process;
  StackOptions options;
  options.eu_stack = Script("eu-stack", "#!/bin/sh\nprintf 'TID 1:\\n#0 0x1 idle\\n'\n");
  {
    StackTaker taker(options);
    EXPECT_EQ(taker.Finished(), std::nullopt);
    taker.Start(process.sample(), StackLook::kStopping);
    std::optional<StackReading> reading;
    while (!reading.has_value() || !reading->complete) {
      if (auto finished = taker.Finished()) reading = *std::move(finished);
      poll(nullptr, 0, 1);
    }
    EXPECT_THAT(reading->stacks, SizeIs(1));
    EXPECT_EQ(taker.Finished(), std::nullopt);
    EXPECT_FALSE(taker.may_hold());
  }
  options.eu_stack = Script("slow", "#!/bin/sh\nsleep 1000\n");
  options.native_deadline = absl::Hours(1);
  StackTaker taker(options);
  taker.Start(process.sample(), StackLook::kStopping);
  taker.Start(process.sample(), StackLook::kStopping);
  while (!taker.may_hold()) poll(nullptr, 0, 1);
}

}  // namespace
}  // namespace rapideye::agent

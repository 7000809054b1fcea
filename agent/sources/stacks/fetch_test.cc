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
#include <sstream>

#include "absl/strings/str_cat.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/stacks/fetch_tool.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
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
  Echo() {
    int there[2];
    int back[2];
    EXPECT_EQ(pipe2(there, O_CLOEXEC) + pipe2(back, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
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
    kill(pid_, SIGKILL);
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

TEST_F(StacksTest, FindsToolsInAbsoluteFoldersOnly) {
  const std::string tool = Script("tool", "");
  EXPECT_EQ(FindTool("tool", absl::StrCat(".::/nowhere:", folder_)), tool);
  EXPECT_EQ(FindTool("tool", "/nowhere:."), std::nullopt);
}

TEST_F(StacksTest, OfAProcessThatRunsOn) {
  const Echo process;
  const StackOptions options = FindStackTools("/proc", Path());
  if (!options.eu_stack.has_value()) GTEST_SKIP() << "no eu-stack here";
  const StackReading reading = TakeStacks(options, process.sample(), cancel_);
  ASSERT_THAT(reading.stacks, Not(IsEmpty())) << reading.unavailable;
  EXPECT_THAT(reading.stacks[0].thread, HasSubstr("main ("));
  EXPECT_THAT(reading.stacks[0].frames, Contains(HasSubstr("read")));
  EXPECT_TRUE(process.RunsOn());
}

// What a tracer that is killed in the midst of it leaves behind is a stopped thread.
TEST_F(StacksTest, AProcessThatATracerHeldWhenItWasKilledRunsOn) {
  const Echo process;
  StackOptions options;
  options.deadline = absl::Seconds(2);
  const std::string held = folder_ + "/held";
  options.eu_stack = Script("eu-stack", absl::StrCat(R"(#!/usr/bin/python3
import ctypes, os, sys, time
pid = int(sys.argv[-1])
if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
    os.waitpid(pid, 0x40000000)
    open(")",
                                                     held, R"(", "w").close()
time.sleep(1000)
)"));
  const StackReading reading = TakeStacks(options, process.sample(), cancel_);
  EXPECT_THAT(reading.unavailable, HasSubstr("eu-stack was not done within 2s"));
  if (!std::filesystem::exists(held)) GTEST_SKIP() << "nothing may be traced here";
  EXPECT_TRUE(process.RunsOn());
}

TEST_F(StacksTest, AProcessThatIsStoppedStaysSo) {
  const Echo process;
  process.Stop();
  StackOptions options;
  options.eu_stack = Script("eu-stack", absl::StrCat("#!/bin/sh\ntouch ", folder_, "/used\n"));
  const StackReading reading = TakeStacks(options, process.sample(), cancel_);
  EXPECT_THAT(reading.unavailable, HasSubstr("it is stopped"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/used"));
  EXPECT_EQ(process.state(), ProcessState::kStopped);
}

TEST_F(StacksTest, OfPythonAndOfTheProcessTogether) {
  const Echo process;
  StackOptions options;
  options.py_spy = Script("py-spy", R"(#!/bin/sh
echo '[{"thread_name":"MainThread","frames":[{"name":"'"$*"'"}]}]'
)");
  options.eu_stack = Script("eu-stack", "#!/bin/sh\nprintf 'TID 1:\\n#0 0x1 idle\\n'\nexit 1\n");
  const StackReading reading = TakeStacks(options, process.sample(), cancel_);
  EXPECT_THAT(reading.unavailable, IsEmpty());
  ASSERT_THAT(reading.stacks, SizeIs(2));
  EXPECT_THAT(reading.stacks[0].frames,
              ElementsAre(absl::StrCat("dump --nonblocking --json --pid ", process.pid())));
  EXPECT_THAT(reading.stacks[1].frames, ElementsAre("idle"));
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
  const StackReading reading = TakeStacks(options, process, cancel_);
  ASSERT_THAT(reading.stacks, SizeIs(1));
  EXPECT_EQ(reading.stacks[0].thread, "main (python3)");
  EXPECT_THAT(reading.stacks[0].frames, ElementsAre("futex_wait_queue (kernel)"));

  process.id.start_ticks = 900;  // the number was given to another
  EXPECT_EQ(TakeStacks(options, process, cancel_).unavailable, "the process has ended");
  const Echo here;
  EXPECT_THAT(TakeStacks(StackOptions(), here.sample(), cancel_).unavailable,
              HasSubstr("neither eu-stack"));
}

TEST_F(StacksTest, TheTakerWorksBesideAndGivesUpWhenItIsToEnd) {
  const Echo process;
  StackOptions options;
  options.eu_stack = Script("eu-stack", "#!/bin/sh\nprintf 'TID 1:\\n#0 0x1 idle\\n'\n");
  {
    StackTaker taker(options);
    EXPECT_EQ(taker.Finished(), std::nullopt);
    taker.Start(process.sample());
    std::optional<StackReading> reading;
    while (!(reading = taker.Finished()).has_value()) poll(nullptr, 0, 1);
    EXPECT_THAT(reading->stacks, SizeIs(1));
    EXPECT_EQ(taker.Finished(), std::nullopt);
  }
  options.eu_stack = Script("slow", "#!/bin/sh\nsleep 1000\n");
  options.deadline = absl::Hours(1);
  StackTaker taker(options);
  taker.Start(process.sample());
  taker.Start(process.sample());
  EXPECT_EQ(taker.Finished(), std::nullopt);
}

}  // namespace
}  // namespace rapideye::agent

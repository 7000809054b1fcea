#include "agent/sources/process/fetch_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "agent/sources/process/fetch.h"

namespace rapideye::agent {
namespace {

using ::testing::Eq;
using ::testing::Optional;

// Shells that write what a test says, in a folder of the test's own.
class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() : folder_(absl::StrCat(testing::TempDir(), "writer-", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~LogWriterTest() override {
    for (const pid_t pid : started_) {
      kill(-pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Runs the script in its folder, and returns once it has said a byte to descriptor 9.
  pid_t Start(const std::string& script) {
    int ready[2];
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      constexpr int kReady = 9;
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (dup2(ready[1], kReady) < 0 || chdir(folder_.c_str()) != 0) _exit(1);
      execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      _exit(1);
    }
    setpgid(pid, pid);
    started_.push_back(pid);
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
  }
  std::optional<int64_t> Find(const std::string& name = "log") const {
    return FindLogWriter("/proc", {Path(name)});
  }
  int64_t PidIn(const std::string& name) const {
    int64_t pid = 0;
    std::ifstream(Path(name)) >> pid;
    return pid;
  }

  const std::string folder_;
  std::vector<pid_t> started_;
};

TEST_F(LogWriterTest, NobodyWritesAFileThatNobodyHasOpen) {
  EXPECT_EQ(Find(), std::nullopt);
  std::ofstream(Path("log")) << "old\n";
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(LogWriterTest, OfAFamilyItIsTheFirst) {
  const pid_t first = Start("exec > log 2>&1; sleep 1000 & echo >&9; wait");
  EXPECT_THAT(Find(), Optional(Eq(first)));
  EXPECT_THAT(Find("l*g"), Optional(Eq(first)));
}

TEST_F(LogWriterTest, WhoReadsItDoesNotCount) {
  std::ofstream(Path("log")) << "old\n";
  Start("exec < log; echo >&9; exec sleep 1000");
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(LogWriterTest, WhoOnlyPassesOnIsNotIt) {
  Start("sh -c 'echo $$ > train.pid; echo step 1; exec sleep 1000' | cat | tee log >&9");
  EXPECT_THAT(Find(), Optional(Eq(PidIn("train.pid"))));
}

TEST_F(LogWriterTest, OfTwoThatHaveNothingInCommonNeither) {
  for (int i = 0; i < 2; ++i) Start("exec >> log; echo >&9; exec sleep 1000");
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(LogWriterTest, IsTheTrainingProcessWhereNoRuntimeListens) {
  const pid_t pid = Start("exec > log; echo >&9; exec sleep 1000");
  ProcessWatch watch("/proc", *ParseEndpoint("127.0.0.1:1"), std::nullopt, "/sys", {Path("log")});
  ProcessReading reading = watch.Read(absl::ZeroDuration());
  ASSERT_TRUE(reading.process.has_value());
  EXPECT_EQ(reading.process->id.pid, pid);
  kill(pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  reading = watch.Read(absl::Seconds(10));
  EXPECT_EQ(reading.process->state, ProcessState::kZombie);
  EXPECT_EQ(reading.process->signal, SIGKILL);
}

}  // namespace
}  // namespace rapideye::agent

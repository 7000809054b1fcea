#include "agent/sources/process/fetch_log_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace rapideye::agent {
namespace {

LogWriter Writer(int64_t pid, int64_t parent, const std::string& command, int64_t threads,
                 int64_t cpu_ticks) {
  LogWriter writer;
  writer.stat.id = {pid, 1};
  writer.stat.parent = parent;
  writer.stat.command = command;
  writer.stat.cpu_ticks = cpu_ticks;
  writer.threads = threads;
  return writer;
}

int64_t Chosen(const std::vector<LogWriter>& writers) {
  const std::optional<ProcessStat> stat = ChooseTraining(writers);
  return stat.has_value() ? stat->id.pid : 0;
}

TEST(ChooseTrainingTest, ShellsAndLoadersAreNotIt) {
  EXPECT_EQ(Chosen({Writer(10, 1, "bash", 1, 3), Writer(11, 10, "python", 60, 500),
                    Writer(12, 11, "python", 3, 900), Writer(13, 11, "python", 3, 10)}),
            11);
}

TEST(ChooseTrainingTest, APythonProgramThatOnlyLaunchesIsNotIt) {
  EXPECT_EQ(Chosen({Writer(10, 1, "python", 3, 300), Writer(11, 10, "python", 60, 5000),
                    Writer(12, 11, "python", 3, 900)}),
            11);
}

TEST(ChooseTrainingTest, WhoeverHasTheChipsIsIt) {
  std::vector<LogWriter> writers = {Writer(10, 1, "python", 60, 9000),
                                    Writer(11, 10, "python", 3, 5)};
  EXPECT_EQ(Chosen(writers), 10);
  writers[1].has_chips = true;
  EXPECT_EQ(Chosen(writers), 11);
}

TEST(ChooseTrainingTest, AScriptThatTrainsByItselfIsIt) {
  EXPECT_EQ(Chosen({Writer(10, 1, "bash", 1, 3)}), 10);
  EXPECT_EQ(Chosen({}), 0);
}

class FindLogWritersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "writers-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    for (const pid_t pid : children_) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  std::string Path(const std::string& name) const { return folder_ / name; }

  // Starts a child that has the file as that descriptor, and waits.
  pid_t Start(const std::string& name, int descriptor) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(open(Path(name).c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), descriptor);
      close(ready[0]);
      char byte = 0;
      if (write(ready[1], &byte, 1) != 1) _exit(1);
      while (true) pause();
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    children_.push_back(pid);
    return pid;
  }

  std::vector<int64_t> Found(const std::string& pattern) const {
    std::vector<int64_t> pids;
    for (const LogWriter& one : FindLogWriters("/proc", "/dev", {Path(pattern)})) {
      pids.push_back(one.stat.id.pid);
    }
    std::sort(pids.begin(), pids.end());
    return pids;
  }

  std::filesystem::path folder_;
  std::vector<pid_t> children_;
};

TEST_F(FindLogWritersTest, StandardOutputAndErrorCountAndNothingElse) {
  const pid_t output = Start("a.log", 1);
  const pid_t error = Start("b.log", 2);
  Start("a.log", 7);
  EXPECT_THAT(Found("a.log"), ::testing::ElementsAre(output));
  EXPECT_THAT(Found("*.log"), ::testing::UnorderedElementsAre(output, error));
  EXPECT_THAT(Found("c.log"), ::testing::IsEmpty());
}

// Otherwise the job could make its agent look into any process that it chooses.
TEST_F(FindLogWritersTest, WhatALinkOfTheJobNamesIsNotItsLog) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  const pid_t output = Start("daemon.out", 1);
  std::filesystem::create_symlink(Path("daemon.out"), Path("train.log"));
  EXPECT_THAT(Found("train.log"), ::testing::ElementsAre(output));
  ASSERT_EQ(lchown(Path("train.log").c_str(), 65534, 65534), 0);
  EXPECT_THAT(Found("train.log"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

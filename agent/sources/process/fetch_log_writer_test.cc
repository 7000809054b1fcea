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
    for (const Candidate& one : FindLogWriters("/proc", "/dev", {Path(pattern)})) {
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

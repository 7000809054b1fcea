#include "proto/common/process/private_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace rapideye {
namespace {

constexpr uid_t kNobody = 65534;

// Runs in a child of a user without privileges; false unless it returns true.
bool AsNobody(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // a change of user has cleared it
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool Opens(pid_t process, const char* file) {
  const std::string path = "/proc/" + std::to_string(process) + file;
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened >= 0) close(opened);
  return opened >= 0;
}

// True if another process of the same user can read a process that has called `before`.
bool APeerReads(const char* file, void (*before)()) {
  return AsNobody([file, before] {
    int ready[2];
    if (pipe(ready) != 0) return false;
    const pid_t keeper = fork();
    if (keeper == 0) {
      before();
      (void)!write(ready[1], "x", 1);
      pause();
      _exit(0);
    }
    char byte = 0;
    const bool started = read(ready[0], &byte, 1) == 1;
    const bool opens = started && Opens(keeper, file);
    kill(keeper, SIGKILL);
    waitpid(keeper, nullptr, 0);
    return opens;
  });
}

TEST(PrivateMemory, NoProcessOfTheSameUserReadsIt) {
  if (!CanKeepMemoryPrivate()) GTEST_SKIP() << "a sanitizer traces its own process";
  for (const char* file : {"/environ", "/maps", "/root"}) {
    EXPECT_TRUE(APeerReads(file, [] {})) << file;
    EXPECT_FALSE(APeerReads(file, KeepMemoryPrivate)) << file;
  }
}

TEST(PrivateMemory, ItGoesOnReadingItself) {
  EXPECT_TRUE(AsNobody([] {
    KeepMemoryPrivate();
    return Opens(getpid(), "/fd") && Opens(getpid(), "/smaps") && Opens(getpid(), "/stat") &&
           Opens(getpid(), "/ns/pid");
  }));
}

}  // namespace
}  // namespace rapideye

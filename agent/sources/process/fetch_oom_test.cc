#include "agent/sources/process/fetch_oom.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rapideye::agent {
namespace {

TEST(OomCounterFile, IsThatOfTheGroupWhichHasTheMemory) {
  EXPECT_EQ(OomCounterFile("0::/kubepods/pod1/main\n", "/sys"),
            "/sys/fs/cgroup/kubepods/pod1/main/memory.events");
  EXPECT_EQ(OomCounterFile("0::/\n", "/sys"), "/sys/fs/cgroup/memory.events");
  EXPECT_EQ(OomCounterFile("9:cpu,cpuacct:/a\n4:memory:/job\n0::/\n", "/host/sys"),
            "/host/sys/fs/cgroup/memory/job/memory.oom_control");
}

TEST(OomCounterFile, IsAbsentForAGroupOutsideOfTheNamespace) {
  EXPECT_EQ(OomCounterFile("0::/../other\n", "/sys"), std::nullopt);
  EXPECT_EQ(OomCounterFile("4:cpu:/a\n", "/sys"), std::nullopt);
  EXPECT_EQ(OomCounterFile("", "/sys"), std::nullopt);
}

TEST(OomKills, ReadsBothForms) {
  EXPECT_EQ(OomKills("low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n"), 1);
  EXPECT_EQ(OomKills("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7);
  EXPECT_EQ(OomKills("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt);
}

TEST(OomWatch, SeesACounterThatRoseSinceTheProcessWasLastSeenAlive) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / ("oom-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc/7");
  std::filesystem::create_directories(root / "sys/fs/cgroup/job");
  std::ofstream(root / "proc/7/cgroup") << "0::/job\n";
  const auto count = [&root](int kills) {
    std::ofstream(root / "sys/fs/cgroup/job/memory.events") << "oom_kill " << kills << "\n";
  };
  OomWatch watch(root / "proc", root / "sys");
  EXPECT_FALSE(watch.KilledSince());
  count(1);  // of somebody else, before
  watch.Lives(7);
  EXPECT_FALSE(watch.KilledSince());
  count(2);
  EXPECT_TRUE(watch.KilledSince());
  watch.Lives(7);
  EXPECT_FALSE(watch.KilledSince());
  std::filesystem::remove(root / "sys/fs/cgroup/job/memory.events");
  EXPECT_FALSE(watch.KilledSince());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace rapideye::agent

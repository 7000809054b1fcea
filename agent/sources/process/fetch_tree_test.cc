#include "agent/sources/process/fetch_tree.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rapideye::agent {
namespace {

using ::testing::Optional;

TEST(IoBytesTest, AddsWhatIsReadAndWritten) {
  EXPECT_THAT(IoBytes("rchar: 3000\nwchar: 400\nsyscr: 7\nsyscw: 7\nread_bytes: 0\n"),
              Optional(3400));
}

TEST(IoBytesTest, ATextWithoutThemSaysNothing) {
  EXPECT_EQ(IoBytes(""), std::nullopt);
  EXPECT_EQ(IoBytes("rchar: 3000\n"), std::nullopt);
  EXPECT_EQ(IoBytes("rchar: -1\nwchar: 400\n"), std::nullopt);
}

TEST(WantedMsTest, AddsTheTimesOfRunningAndOfWaitingForAProcessor) {
  EXPECT_THAT(WantedMs("2000000000 1500000000 77\n"), Optional(3500));
  // No sum of two such numbers leaves the range.
  EXPECT_TRUE(WantedMs("18446744073709551615 18446744073709551615 1").has_value());
}

TEST(WantedMsTest, ATextWithoutThemSaysNothing) {
  EXPECT_EQ(WantedMs(""), std::nullopt);
  EXPECT_EQ(WantedMs("2000000000\n"), std::nullopt);
  EXPECT_EQ(WantedMs("2000000000 -5 1\n"), std::nullopt);
  EXPECT_EQ(WantedMs("18446744073709551616 1 1\n"), std::nullopt);
}

class ProcessTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "tree-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(int64_t pid, int64_t ticks, int64_t io, const std::string& children) {
    const std::filesystem::path folder = root_ / absl::StrCat(pid);
    std::filesystem::create_directories(folder / "task" / absl::StrCat(pid));
    std::ofstream(folder / "stat")
        << pid << " (python) S 1 1 1 0 -1 0 0 0 0 0 " << ticks << " 0 0 0 20 0 1 0 500 0 0 0 1\n";
    std::ofstream(folder / "io") << "rchar: " << io << "\nwchar: 0\n";
    std::ofstream(folder / "task" / absl::StrCat(pid) / "children") << children;
  }

  std::filesystem::path root_;
  const int64_t ticks_ = sysconf(_SC_CLK_TCK);
};

TEST_F(ProcessTreeTest, SumsChildrenOfChildren) {
  ProcessTree tree(root_);
  const ProcessId process = {.pid = 10, .start_ticks = 500};
  const auto write = [&](int64_t seconds, int64_t io) {
    Write(10, seconds * ticks_, io, "11 ");
    Write(11, seconds * ticks_, io, "12 ");
    Write(12, seconds * ticks_, io, "");
  };
  write(5, 1000);
  ASSERT_TRUE(tree.Read(process, absl::Seconds(1)).has_value());
  write(6, 1500);
  const std::optional<ProcessWork> work = tree.Read(process, absl::Seconds(6));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->cpu_ms, 3000);
  EXPECT_THAT(work->io_bytes, Optional(1500));
}

TEST_F(ProcessTreeTest, CountsHowLongTheFirstThreadWantedToRun) {
  ProcessTree tree(root_);
  const ProcessId process = {.pid = 10, .start_ticks = 500};
  const auto read = [&](int second, const std::string& schedstat) {
    Write(10, 0, 1000, "");
    std::ofstream(root_ / "10" / "schedstat") << schedstat;
    return tree.Read(process, absl::Seconds(second))->wanted_ms;
  };
  EXPECT_THAT(read(1, "7000000000 1000000000 5\n"), Optional(0));
  EXPECT_THAT(read(6, "8000000000 4500000000 9\n"), Optional(4500));
  // A kernel that does not show it for a while.
  EXPECT_THAT(read(11, ""), Optional(4500));
  EXPECT_THAT(read(16, "20000000000 5000000000 9\n"), Optional(4500));
  EXPECT_THAT(read(21, "20100000000 5000000000 9\n"), Optional(4600));
}

TEST_F(ProcessTreeTest, AKernelThatShowsNoWaitForAProcessorIsNoError) {
  ProcessTree tree(root_);
  Write(10, 0, 1000, "");
  const std::optional<ProcessWork> work =
      tree.Read({.pid = 10, .start_ticks = 500}, absl::Seconds(1));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->wanted_ms, std::nullopt);
}

TEST_F(ProcessTreeTest, AChildThatEndsTakesNothingAway) {
  ProcessTree tree(root_);
  const ProcessId process = {.pid = 10, .start_ticks = 500};
  Write(10, 0, 1000, "11 ");
  Write(11, 0, 1000, "");
  ASSERT_TRUE(tree.Read(process, absl::Seconds(1)).has_value());
  std::filesystem::remove_all(root_ / "11");
  Write(10, 0, 1700, "");
  EXPECT_THAT(tree.Read(process, absl::Seconds(6))->io_bytes, Optional(700));
}

TEST_F(ProcessTreeTest, AnotherProcessOfThatNumberIsNotMeant) {
  ProcessTree tree(root_);
  Write(10, 0, 1000, "");
  EXPECT_FALSE(tree.Read({.pid = 10, .start_ticks = 499}, absl::Seconds(1)).has_value());
  EXPECT_TRUE(tree.Read({.pid = 10, .start_ticks = 500}, absl::Seconds(2)).has_value());
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/sources/process/fetch_holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChipHoldersTest : public testing::Test {
 protected:
  ~ChipHoldersTest() override { std::filesystem::remove_all(root_); }

  void Process(int pid, int parent, int start, std::initializer_list<const char*> links) {
    const std::string folder = absl::StrCat(root_, "/", pid);
    std::filesystem::create_directories(folder + "/fd");
    std::ofstream(folder + "/stat")
        << pid << " (python3) S " << parent << " 1 1 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 " << start
        << " 0 0 0 4096 0 0\n";
    int fd = 0;
    for (const char* link : links) {
      std::filesystem::create_symlink(link, absl::StrCat(folder, "/fd/", fd++));
    }
  }
  std::vector<ChipHolder> Find() const { return FindChipHolders(root_, "/dev", {{20, 500}}); }

  const std::string root_ = testing::TempDir() + absl::StrCat("holders-", getpid());
};

TEST_F(ChipHoldersTest, NamesALeftover) {
  Process(20, 1, 500, {"/dev/accel0", "/dev/accel1"});
  Process(30, 1, 100, {"/dev/null", "/dev/vfio/2", "/dev/accel1", "/dev/accel1"});
  Process(40, 1, 100, {"socket:[7]", "/dev/vfio/vfio"});
  const std::vector<ChipHolder> holders = Find();
  ASSERT_THAT(holders, SizeIs(1));
  EXPECT_EQ(holders[0].process.pid, 30);
  EXPECT_EQ(holders[0].process.command, "python3");
  EXPECT_EQ(holders[0].process.state, ProcessState::kSleeping);
  EXPECT_THAT(holders[0].devices, ElementsAre("accel1", "vfio/2"));
}

TEST_F(ChipHoldersTest, NotTheTrainingProcessNorItsChildren) {
  Process(20, 1, 500, {"/dev/accel0"});
  Process(31, 20, 510, {"/dev/accel0"});
  Process(32, 31, 520, {"/dev/accel0"});
  EXPECT_THAT(Find(), IsEmpty());
  // Another process had the number before.
  Process(33, 34, 530, {"/dev/accel0"});
  Process(34, 33, 530, {});
  EXPECT_THAT(Find(), SizeIs(1));
}

TEST_F(ChipHoldersTest, AnotherWorkerOfTheHostIsNotInTheWay) {
  Process(20, 1, 500, {"/dev/accel0"});
  Process(30, 1, 100, {"/dev/accel1"});
  EXPECT_THAT(Find(), IsEmpty());
  Process(40, 1, 600, {"/dev/accel0"});
  EXPECT_THAT(Find(), SizeIs(1));
}

TEST_F(ChipHoldersTest, AllHoldersWhileTheTrainingProcessIsNotKnown) {
  Process(20, 1, 500, {"/dev/accel0"});
  Process(30, 1, 100, {"/dev/accel1"});
  EXPECT_THAT(FindChipHolders(root_, "/dev", std::nullopt), SizeIs(2));
}

TEST_F(ChipHoldersTest, SaysWhoseAHolderIsAndSinceWhen) {
  Process(30, 1, 100, {"/dev/accel1"});
  const std::vector<ChipHolder> holders = FindChipHolders(root_, "/dev", std::nullopt);
  ASSERT_THAT(holders, SizeIs(1));
  EXPECT_TRUE(holders[0].process.user.has_value());
  EXPECT_GT(holders[0].process.started_ms_ago.value_or(0), 0);
}

}  // namespace
}  // namespace rapideye::agent

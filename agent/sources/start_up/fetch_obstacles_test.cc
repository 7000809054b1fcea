#include "agent/sources/start_up/fetch_obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "agent/sources/start_up/fetch.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A made-up host: a training process (20) that has just started, and whatever a test adds.
class ObstaclesTest : public testing::Test {
 protected:
  ObstaclesTest() {
    fs::create_directories(root_ + "/dev/vfio");
    fs::create_directories(root_ + "/proc/net");
    fs::create_directories(root_ + "/sys");
    Process(20, kNow, {});
    training_.id = {20, kNow};
    training_.age_ms = 1'000;
  }
  ~ObstaclesTest() override { fs::remove_all(root_); }

  // Starts are in ticks since the machine started: 1 is long ago.
  void Process(int pid, int64_t start, const std::vector<std::string>& links) const {
    const std::string folder = absl::StrCat(root_, "/proc/", pid);
    fs::create_directories(folder + "/fd");
    std::ofstream(folder + "/stat")
        << pid << " (python3) S 1 1 1 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 " << start
        << " 0 0 0 4096 0 0\n";
    int fd = 0;
    for (const std::string& link : links) {
      fs::create_symlink(link, absl::StrCat(folder, "/fd/", fd++));
    }
  }
  std::string Device(const std::string& name) const { return absl::StrCat(root_, "/dev/", name); }

  ObstacleSearch Search() const {
    ObstacleSearch search;
    search.proc_root = root_ + "/proc";
    search.sys_root = root_ + "/sys";
    search.dev_root = root_ + "/dev";
    search.training = training_;
    return search;
  }

  static constexpr int64_t kNow = int64_t{1} << 50;  // after any holder's
  const std::string root_ = testing::TempDir() + absl::StrCat("obstacles-", getpid());
  ProcessSample training_;
};

TEST_F(ObstaclesTest, ALeftoverThatHoldsChips) {
  Process(7, 1, {Device("vfio/0")});
  const auto found = FindObstacles(Search());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, ObstacleKind::kDeviceHeld);
  EXPECT_EQ(found[0].subject, "vfio/0");
  EXPECT_EQ(found[0].holder->pid, 7);
  EXPECT_EQ(found[0].holder->command, "python3");
  EXPECT_TRUE(found[0].holder->user.has_value());
  EXPECT_GT(found[0].holder->started_ms_ago.value_or(0), 1'000);
}

TEST_F(ObstaclesTest, ChipsOfItsOwnAreHeldByNobodyElse) {
  Process(7, 1, {Device("vfio/0")});
  ObstacleSearch search = Search();
  search.has_device = true;
  EXPECT_THAT(FindObstacles(search), IsEmpty());
}

TEST_F(ObstaclesTest, AYoungerHolderIsNoLeftover) {
  Process(7, 1, {Device("vfio/0")});
  ObstacleSearch search = Search();
  search.training->age_ms = int64_t{1} << 60;
  EXPECT_THAT(FindObstacles(search), IsEmpty());
}

TEST_F(ObstaclesTest, ADeviceThatMayNotBeOpened) {
  std::ofstream(Device("vfio/3")) << "";
  fs::permissions(Device("vfio/3"), fs::perms::none);
  std::ofstream(root_ + "/proc/20/status")
      << "Uid:\t77\t77\t77\t77\nGid:\t77\t77\t77\t77\nGroups:\t\nCapEff:\t0\n";
  const auto found = FindObstacles(Search());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, ObstacleKind::kDeviceNotPermitted);
  EXPECT_EQ(found[0].subject, "vfio/3");
  EXPECT_THAT(*found[0].detail, HasSubstr("runs as 77"));
  fs::permissions(Device("vfio/3"), fs::perms::all);
  EXPECT_THAT(FindObstacles(Search()), IsEmpty());
}

TEST_F(ObstaclesTest, AChipWithoutADriver) {
  const std::string device = root_ + "/sys/bus/pci/devices/0000:05:00.0";
  fs::create_directories(device);
  ObstacleSearch search = Search();
  search.tpus.emplace_back().address = "0000:05:00.0";
  const auto found = FindObstacles(search);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, ObstacleKind::kNoDriver);
  EXPECT_EQ(found[0].subject, "0000:05:00.0");
  fs::create_directory_symlink("../../drivers/vfio-pci", device + "/driver");
  EXPECT_THAT(FindObstacles(search), IsEmpty());
}

TEST_F(ObstaclesTest, APortThatAnotherHas) {
  std::ofstream(root_ + "/proc/net/tcp")
      << "   0: 00000000:2117 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 71 1\n";
  Process(7, 1, {"socket:[71]"});
  ObstacleSearch search = Search();
  search.ports = {8471};
  const auto found = FindObstacles(search);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, ObstacleKind::kPortTaken);
  EXPECT_EQ(found[0].subject, "8471");
  EXPECT_EQ(found[0].holder->pid, 7);
  search.ports = {8472};
  EXPECT_THAT(FindObstacles(search), IsEmpty());
}

TEST_F(ObstaclesTest, ItsOwnPortIsNotTaken) {
  std::ofstream(root_ + "/proc/net/tcp")
      << "   0: 00000000:2117 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 71 1\n";
  fs::create_symlink("socket:[71]", root_ + "/proc/20/fd/9");
  ObstacleSearch search = Search();
  search.ports = {8471};
  EXPECT_THAT(FindObstacles(search), IsEmpty());
}

// The phases, as the fetcher sees them.
TEST_F(ObstaclesTest, TheFetcherSeesChipsAndTheCoordinationService) {
  std::ofstream(root_ + "/proc/20/environ") << "JAX_COORDINATOR_ADDRESS=10.0.0.2:1234" << '\0';
  HostOptions options;
  options.proc_root = root_ + "/proc";
  options.sys_root = root_ + "/sys";
  options.dev_root = root_ + "/dev";
  StartUpFetcher fetcher(options);
  HostFindings found;
  found.process = training_;
  found.socket_inodes = [] { return std::set<uint64_t>{71}; };
  const auto look = [&] { return fetcher.Fetch({.starting = true}, absl::Seconds(1), found); };
  auto reading = look();
  ASSERT_TRUE(reading.has_value());
  EXPECT_TRUE(reading->process);
  EXPECT_FALSE(reading->device);
  EXPECT_FALSE(reading->coordination);
  EXPECT_TRUE(reading->obstacles.has_value());
  fs::create_symlink(Device("vfio/1"), root_ + "/proc/20/fd/3");
  fs::create_directories(root_ + "/proc/20/net");
  std::ofstream(root_ + "/proc/20/net/tcp")
      << "   0: 0100007F:A001 0200000A:04D2 01 00000000:00000000 00:00000000 00000000 0 0 71 1\n";
  reading = look();
  EXPECT_TRUE(reading->device);
  EXPECT_TRUE(reading->coordination);
  EXPECT_FALSE(reading->obstacles.has_value());  // not so soon again
  EXPECT_FALSE(reading->settings.has_value());
  EXPECT_FALSE(fetcher.Fetch({}, absl::Seconds(2), found).has_value());
  EXPECT_TRUE(fetcher.Fetch({.hang = true}, absl::Seconds(2), found)->settings.has_value());
}

}  // namespace
}  // namespace rapideye::agent

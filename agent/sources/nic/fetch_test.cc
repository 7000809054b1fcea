#include "agent/sources/nic/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rapideye::agent {
namespace {

TEST(ListNicsTest, KnowsTheLoopback) {
  const auto nics = ListNics();
  ASSERT_EQ(nics.count(FromV4({127, 0, 0, 1})), 1u);
  EXPECT_EQ(nics.at(FromV4({127, 0, 0, 1})), "lo");
}

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A made-up /sys.
class ReadNicsTest : public testing::Test {
 protected:
  ReadNicsTest() : sys_(testing::TempDir() + "sys_of_nics") { fs::remove_all(sys_); }
  ~ReadNicsTest() override { fs::remove_all(sys_); }

  void Write(const std::string& nic, const std::string& file, const std::string& text) const {
    const fs::path path = sys_ + "/class/net/" + nic + "/" + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void Nic(const std::string& name, bool physical, const char* carrier) const {
    Write(name, "type", "1");
    Write(name, "carrier", carrier);
    Write(name, "operstate", *carrier == '1' ? "up" : "down");
    Write(name, "carrier_changes", "2");
    Write(name, "statistics/rx_errors", "11");
    Write(name, "statistics/tx_errors", "0");
    if (physical) {
      fs::create_directory_symlink("../../../0000:08:00.0",
                                   sys_ + "/class/net/" + name + "/device");
    }
  }
  NicReading Read(const std::map<IpAddress, std::string>& owners) const {
    return ReadNics(sys_, owners, absl::Seconds(10));
  }

  const std::string sys_;
};

TEST_F(ReadNicsTest, ShowsDevicesAndWhatHasAnAddress) {
  Nic("eth1", true, "0");
  Nic("bond0", false, "1");
  Nic("veth12ab", false, "1");  // of a container
  const NicReading reading =
      Read({{FromV4({10, 0, 0, 1}), "bond0"}, {*ParseIpAddress("fe80::1"), "veth12ab"}});
  EXPECT_EQ(reading.unavailable, "");
  ASSERT_THAT(reading.nics, SizeIs(2));
  for (const NicSample& nic : reading.nics) {
    EXPECT_EQ(nic.up, nic.name == "bond0") << nic.name;
    EXPECT_EQ(nic.physical, nic.name == "eth1") << nic.name;
    EXPECT_EQ(nic.rx_errors, 11);
  }
}

TEST_F(ReadNicsTest, SaysWhatIsWrong) {
  EXPECT_THAT(Read({}).unavailable, HasSubstr("--sys-root"));
  Nic("eth0", true, "1");
  EXPECT_EQ(Read({{FromV4({127, 0, 0, 1}), "lo"}}).unavailable, "");
  EXPECT_THAT(Read({{FromV4({10, 0, 0, 1}), "eth1"}}).unavailable, HasSubstr("does not show eth1"));
}

TEST(ReadNicsOfThisMachine, Works) {
  const NicReading reading = ReadNics("/sys", ListNics(), absl::Seconds(10));
  if (!reading.nics.empty()) {
    EXPECT_THAT(reading.nics.front().name, testing::Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/sources/pcie/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A made-up /sys.
class PcieFetchTest : public testing::Test {
 protected:
  PcieFetchTest() : sys_(testing::TempDir() + "sys_of_pcie") { fs::remove_all(sys_); }
  ~PcieFetchTest() override { fs::remove_all(sys_); }

  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(sys_ + path).parent_path());
    std::ofstream(sys_ + path) << text;
  }
  void Device(const std::string& address, const char* device, int group) const {
    const std::string folder = "/bus/pci/devices/" + address;
    Write(folder + "/vendor", "0x1ae0\n");
    Write(folder + "/device", std::string(device) + "\n");
    fs::create_directory_symlink("../../../../kernel/iommu_groups/" + std::to_string(group),
                                 sys_ + folder + "/iommu_group");
  }
  void Errors(const std::string& address, int fatal, int non_fatal, int correctable) const {
    const std::string folder = "/bus/pci/devices/" + address;
    Write(folder + "/aer_dev_fatal", "TOTAL_ERR_FATAL " + std::to_string(fatal) + "\n");
    Write(folder + "/aer_dev_nonfatal", "TOTAL_ERR_NONFATAL " + std::to_string(non_fatal) + "\n");
    Write(folder + "/aer_dev_correctable", "TOTAL_ERR_COR " + std::to_string(correctable) + "\n");
  }
  void Accelerator(int number, const std::string& address) const {
    const std::string folder = sys_ + "/class/accel/accel" + std::to_string(number);
    fs::create_directories(folder);
    fs::create_directory_symlink("../../../devices/pci0000:00/" + address, folder + "/device");
  }
  PcieReading Read() const { return ReadPcie(sys_, ListTpus(sys_), absl::Seconds(10)); }

  const std::string sys_;
};

TEST_F(PcieFetchTest, CountsErrorsOfEachChip) {
  Device("0000:05:00.0", "0x0063", 40);
  Device("0000:06:00.0", "0x0063", 41);
  Device("0000:07:00.0", "0x0042", 42);  // a NIC
  Errors("0000:05:00.0", 0, 1, 900);
  Errors("0000:06:00.0", 2, 0, 0);
  Accelerator(1, "0000:05:00.0");
  Accelerator(0, "0000:06:00.0");
  const PcieReading reading = Read();
  EXPECT_THAT(reading.chips, ElementsAre(PcieSample{1, 0, 1, 900}, PcieSample{0, 2, 0, 0}));
  EXPECT_EQ(reading.unavailable, "");
}

TEST_F(PcieFetchTest, ChipsThatArePassedThroughAreNumberedByTheirGroups) {
  Device("0000:05:00.0", "0x006f", 1);
  Device("0000:06:00.0", "0x006f", 0);
  EXPECT_THAT(ListTpus(sys_), ElementsAre(TpuDevice{"0000:05:00.0", std::nullopt, 1, 1},
                                          TpuDevice{"0000:06:00.0", std::nullopt, 0, 0}));
}

TEST_F(PcieFetchTest, SaysWhatIsMissing) {
  EXPECT_THAT(Read().unavailable, HasSubstr("--sys-root"));
  Device("0000:05:00.0", "0x0063", 0);
  EXPECT_THAT(Read().unavailable, HasSubstr("0000:05:00.0 shows no AER counters"));
  Errors("0000:05:00.0", 0, 0, 0);
  EXPECT_EQ(Read().unavailable, "");
  Device("0000:06:00.0", "0x0063", 7);
  Errors("0000:06:00.0", 1, 0, 0);
  EXPECT_THAT(Read().unavailable, HasSubstr("which chip is behind 0000:06:00.0"));
  EXPECT_THAT(Read().chips, IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/sources/pcie/parse.h"

#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

TEST(PcieParseTest, KnowsAddresses) {
  for (const char* text : {"0000:05:00.0", "ffff:ff:1f.7", "10000:e1:00.0"}) {
    EXPECT_TRUE(IsPciAddress(text)) << text;
  }
  for (const char* text : {"", "05:00.0", "0000:05:00", "0000:05:00.8", "0000:0G:00.0",
                           "0000:AB:00.0", "0000-05:00.0", "000000000:05:00.0"}) {
    EXPECT_FALSE(IsPciAddress(text)) << text;
  }
}

TEST(PcieParseTest, KnowsTpusFromGooglesOtherDevices) {
  for (const char* device : {"0x005e\n", "0x0063\n", "0x0062\n", "0x006f\n", "0x0076"}) {
    EXPECT_TRUE(IsTpu("0x1ae0\n", device)) << device;
  }
  EXPECT_FALSE(IsTpu("0x1ae0\n", "0x0042\n"));  // a virtual NIC
  EXPECT_FALSE(IsTpu("0x8086\n", "0x0063\n"));
  EXPECT_FALSE(IsTpu("", ""));
}

TEST(PcieParseTest, NumbersBehindNames) {
  EXPECT_EQ(NumberBehind("accel", "accel3"), 3);
  EXPECT_EQ(NumberBehind("", "17"), 17);
  for (const char* name : {"accel", "accel-1", "accel1x", "accel99999999999", "axcel1", ""}) {
    EXPECT_EQ(NumberBehind("accel", name), std::nullopt) << name;
  }
}

TpuDevice At(const char* address, std::optional<int32_t> accel, std::optional<int32_t> group) {
  return {address, accel, group, std::nullopt};
}

std::vector<std::optional<int32_t>> Chips(std::vector<TpuDevice> devices) {
  NumberChips(devices);
  std::vector<std::optional<int32_t>> chips;
  for (const TpuDevice& device : devices) chips.push_back(device.chip);
  return chips;
}

TEST(PcieParseTest, ChipsAreNumberedAsTheirDeviceFiles) {
  using Numbers = std::vector<std::optional<int32_t>>;
  EXPECT_EQ(Chips({At("a", 1, 40), At("b", 0, 41)}), (Numbers{1, 0}));
  EXPECT_EQ(Chips({At("a", std::nullopt, 1), At("b", std::nullopt, 0)}), (Numbers{1, 0}));
}

TEST(PcieParseTest, ChipsAreNotGuessed) {
  using Numbers = std::vector<std::optional<int32_t>>;
  const Numbers unknown = {std::nullopt, std::nullopt};
  // Groups count all devices of the host; two chips share one; one has none.
  EXPECT_EQ(Chips({At("a", std::nullopt, 4), At("b", std::nullopt, 5)}), unknown);
  EXPECT_EQ(Chips({At("a", std::nullopt, 0), At("b", std::nullopt, 0)}), unknown);
  EXPECT_EQ(Chips({At("a", std::nullopt, 0), At("b", std::nullopt, std::nullopt)}), unknown);
  EXPECT_EQ(Chips({At("a", std::nullopt, 0), At("b", 0, 1)}), (Numbers{std::nullopt, 0}));
  EXPECT_EQ(Chips({}), Numbers{});
}

TEST(PcieParseTest, TheSumOfErrors) {
  EXPECT_EQ(TotalErrors("Undefined 0\nDLP 1\nTLP 1\nTOTAL_ERR_FATAL 2\n"), 2);
  EXPECT_EQ(TotalErrors("RxErr 900\nTOTAL_ERR_COR 900"), 900);
  for (const char* text : {"", "Undefined 0\n", "TOTAL_ERR_FATAL", "TOTAL_ERR_FATAL x\n",
                           "TOTAL_ERR_FATAL -1\n", "TOTAL_ERR_FATAL 99999999999999999999\n"}) {
    EXPECT_EQ(TotalErrors(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rapideye::agent

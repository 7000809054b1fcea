#include "proto/common/address/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye {
namespace {

TEST(AddressTest, ReadsBothFamilies) {
  EXPECT_EQ(ParseIpAddress("10.200.16.4"), FromV4({10, 200, 16, 4}));
  EXPECT_EQ(ParseIpAddress("::ffff:10.200.16.4"), FromV4({10, 200, 16, 4}));
  EXPECT_EQ(ParseIpAddress("::ffff:ac8:1004"), FromV4({10, 200, 16, 4}));
  EXPECT_EQ(ToString(*ParseIpAddress("fe80::1")), "fe80:0:0:0:0:0:0:1");
  EXPECT_EQ(ToString(*ParseIpAddress("1:2:3:4:5:6:7:8")), "1:2:3:4:5:6:7:8");
  EXPECT_TRUE(ParseIpAddress("::1")->IsLoopback());
  EXPECT_TRUE(ParseIpAddress("::")->IsUnspecified());
  EXPECT_TRUE(ParseIpAddress("0.0.0.0")->IsUnspecified());
  EXPECT_TRUE(ParseIpAddress("127.77.1.2")->IsLoopback());
  EXPECT_EQ(ToString(FromV4({127, 77, 1, 2})), "127.77.1.2");
}

TEST(AddressTest, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "1",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.256",
                           "1.2.3.-4",
                           "1.2.3. 4",
                           "1.2.3.0004",
                           "1..2.3",
                           ":",
                           ":::",
                           "1::2::3",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7::8",
                           "12345::",
                           "0x1::",
                           "g::",
                           "1.2.3.4::",
                           "::1.2.3",
                           "host",
                           "fe80::1%eth0"}) {
    EXPECT_EQ(ParseIpAddress(text), std::nullopt) << text;
  }
}

TEST(AddressTest, ReadsEndpoints) {
  EXPECT_EQ(ParseEndpoint("localhost:8431")->port, 8431);
  EXPECT_EQ(ParseEndpoint("localhost:8431")->address, FromV4({127, 0, 0, 1}));
  EXPECT_EQ(ParseEndpoint("[::1]:80")->address, ParseIpAddress("::1"));
  EXPECT_EQ(ParseEndpoint("some-host:80")->address, std::nullopt);
  for (const char* text : {"", "host", "host:", "host:0", "host:65536", "host:-1", "host:1x"}) {
    EXPECT_FALSE(ParseEndpoint(text).has_value()) << text;
  }
}

TEST(AddressTest, TellsWhichSocketServes) {
  const Endpoint exact = *ParseEndpoint("127.77.0.1:80");
  EXPECT_TRUE(Serves(FromV4({127, 77, 0, 1}), 80, exact));
  EXPECT_TRUE(Serves(IpAddress{}, 80, exact));
  EXPECT_FALSE(Serves(FromV4({127, 77, 0, 2}), 80, exact));
  EXPECT_FALSE(Serves(FromV4({127, 77, 0, 1}), 81, exact));
  const Endpoint local = *ParseEndpoint("localhost:80");
  EXPECT_TRUE(Serves(*ParseIpAddress("::1"), 80, local));
  EXPECT_FALSE(Serves(FromV4({127, 77, 0, 1}), 80, local));
  EXPECT_TRUE(Serves(FromV4({10, 0, 0, 1}), 80, *ParseEndpoint("tpu-host:80")));
}

TEST(IpAddressTest, SurvivesAsBytes) {
  for (const char* text : {"10.0.0.1", "2001:db8::1", "::"}) {
    const IpAddress address = *ParseIpAddress(text);
    EXPECT_EQ(ToBytes(address).size(), address.IsV4() ? 4u : 16u);
    EXPECT_EQ(FromBytes(ToBytes(address)), address) << text;
  }
  EXPECT_EQ(FromBytes(""), std::nullopt);
  EXPECT_EQ(FromBytes("\x0a\x01\x01"), std::nullopt);
  EXPECT_EQ(FromBytes(std::string(17, '\1')), std::nullopt);
}

TEST(IpAddressTest, IsReachableIfOtherHostsCanUseIt) {
  for (const char* text : {"10.0.0.1", "192.168.7.2", "203.0.113.9", "169.253.0.1", "223.0.0.1",
                           "::ffff:10.0.0.1", "2001:db8::1", "fd00::1", "fec0::1"}) {
    EXPECT_TRUE(ParseIpAddress(text)->IsReachable()) << text;
  }
  for (const char* text : {"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.77.0.1", "169.254.169.254",
                           "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "febf::1",
                           "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254"}) {
    EXPECT_FALSE(ParseIpAddress(text)->IsReachable()) << text;
  }
}

}  // namespace
}  // namespace rapideye

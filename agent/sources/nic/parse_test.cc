#include "agent/sources/nic/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/v1/messages.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ReachableAddressesTest, AreTheHostsOwnByNic) {
  EXPECT_THAT(ReachableAddresses({{FromV4({127, 0, 0, 1}), "lo"},
                                  {FromV4({10, 0, 2, 5}), "eth2"},
                                  {*ParseIpAddress("fe80::1"), "eth1"},
                                  {FromV4({169, 254, 1, 1}), "eth0"},
                                  {FromV4({10, 0, 9, 5}), "eth1"}}),
              ElementsAre(wire::HostAddress{"eth1", FromV4({10, 0, 9, 5})},
                          wire::HostAddress{"eth2", FromV4({10, 0, 2, 5})}));
}

TEST(ReachableAddressesTest, AreNoMoreThanTheCoordinatorTakes) {
  std::map<IpAddress, std::string> nics;
  for (int i = 1; i <= 100; ++i) {
    nics.emplace(FromV4({10, 1, 0, static_cast<uint8_t>(i)}), "veth" + std::to_string(i));
  }
  nics.emplace(FromV4({10, 0, 0, 1}), "eth0");
  const auto addresses = ReachableAddresses(nics);
  EXPECT_THAT(addresses, SizeIs(wire::Hello::kMaxAddresses));
  EXPECT_EQ(addresses.front().nic, "eth0");
}

NicFiles Card() {
  return {.type = "1\n",
          .carrier = "1\n",
          .operstate = "up\n",
          .carrier_changes = "3\n",
          .rx_errors = "7\n",
          .tx_errors = "0\n",
          .has_device = true};
}

TEST(MakeNicTest, ReadsItsFiles) {
  const auto nic = MakeNic("eth1", Card());
  ASSERT_TRUE(nic.has_value());
  EXPECT_TRUE(nic->up);
  EXPECT_TRUE(nic->physical);
  EXPECT_EQ(nic->carrier_changes, 3);
  EXPECT_EQ(nic->rx_errors, 7);
  EXPECT_EQ(nic->tx_errors, 0);
}

TEST(MakeNicTest, IsUpOnlyWithACarrier) {
  NicFiles files = Card();
  files.operstate = "unknown\n";
  EXPECT_TRUE(MakeNic("eth1", files)->up);
  files.carrier = "0\n";
  EXPECT_FALSE(MakeNic("eth1", files)->up);
  files.carrier = std::nullopt;  // switched off
  EXPECT_FALSE(MakeNic("eth1", files)->up);
  files = Card();
  files.operstate = "down\n";
  EXPECT_FALSE(MakeNic("eth1", files)->up);
}

TEST(MakeNicTest, LeavesOutTheLoopbackAndNonsense) {
  NicFiles files = Card();
  files.type = "772\n";
  EXPECT_FALSE(MakeNic("lo", files).has_value());
  files.type = std::nullopt;
  EXPECT_FALSE(MakeNic("bonding_masters", files).has_value());
  files = Card();
  files.rx_errors = "many";
  files.tx_errors = "-1";
  EXPECT_EQ(MakeNic("eth1", files)->rx_errors, std::nullopt);
  EXPECT_EQ(MakeNic("eth1", files)->tx_errors, std::nullopt);
}

}  // namespace
}  // namespace rapideye::agent

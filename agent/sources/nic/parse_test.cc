#include "agent/sources/nic/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/wire/limits.h"

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
  EXPECT_THAT(addresses, SizeIs(wire::kMaxHostAddresses));
  EXPECT_EQ(addresses.front().nic, "eth0");
}

}  // namespace
}  // namespace rapideye::agent

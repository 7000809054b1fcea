#include "agent/sources/nic/fetch.h"

#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

TEST(ListNicsTest, KnowsTheLoopback) {
  const auto nics = ListNics();
  ASSERT_EQ(nics.count(FromV4({127, 0, 0, 1})), 1u);
  EXPECT_EQ(nics.at(FromV4({127, 0, 0, 1})), "lo");
}

}  // namespace
}  // namespace rapideye::agent

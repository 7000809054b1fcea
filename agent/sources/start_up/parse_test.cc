#include "agent/sources/start_up/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RightsTest, TellWhatMayBeOpened) {
  const auto user = ParseRights(
      "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\nGroups:\t44 109 \n"
      "CapEff:\t0000000000000000\n");
  ASSERT_TRUE(user.has_value());
  EXPECT_FALSE(MayOpen(*user, 0600, 0, 0));
  EXPECT_TRUE(MayOpen(*user, 0600, 1000, 0));
  EXPECT_TRUE(MayOpen(*user, 0660, 0, 109));
  EXPECT_FALSE(MayOpen(*user, 0640, 0, 109));
  EXPECT_FALSE(MayOpen(*user, 0660, 0, 7));
  EXPECT_TRUE(MayOpen(*user, 0666, 0, 7));
  // The class that fits first decides.
  EXPECT_FALSE(MayOpen(*user, 0066, 1000, 109));
  const auto root = ParseRights("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(MayOpen(*root, 0, 5, 5));
}

TEST(RightsTest, WithoutAUserThereAreNone) {
  EXPECT_FALSE(ParseRights("").has_value());
  EXPECT_FALSE(ParseRights("Uid:\t1 1\n").has_value());
}

TEST(ConnectionsTest, OnlyEstablishedOnesToThePort) {
  constexpr char kTable[] =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:A001 0200000A:211C 01 00000000:00000000 00:00000000 00000000  0  0 71 1\n"
      "   1: 0100007F:A002 0200000A:211C 02 00000000:00000000 00:00000000 00000000  0  0 72 1\n"
      "   2: 0100007F:211C 0200000A:A003 01 00000000:00000000 00:00000000 00000000  0  0 73 1\n"
      "broken\n";
  EXPECT_THAT(ConnectionsTo(kTable, 8476), ElementsAre(71));
  EXPECT_THAT(ConnectionsTo(kTable, 1), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

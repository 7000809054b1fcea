#include "classifier/hlo/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::classifier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HloGroups, Lists) {
  EXPECT_THAT(ParseHloGroups("{{0,1},{2,3}}", 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ParseHloGroups("{{0,1},{1,0}}", 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
  EXPECT_THAT(ParseHloGroups("{ {0, 2}, {5} }", 8), ElementsAre(ElementsAre(0, 2), ElementsAre(5)));
  EXPECT_THAT(ParseHloGroups("{}", 3), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(HloGroups, ReshapedIotas) {
  EXPECT_THAT(ParseHloGroups("[2,4]<=[8]", 8),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(ParseHloGroups("[2,2]<=[2,2]T(1,0)", 4),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(
      ParseHloGroups("[4,2]<=[2,2,2]T(2,0,1)", 8),
      ElementsAre(ElementsAre(0, 2), ElementsAre(4, 6), ElementsAre(1, 3), ElementsAre(5, 7)));
}

TEST(HloGroups, AxesOfAMesh) {
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2] {'a'}", 4),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2] {'b'}", 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2] {'a','b'}", 4),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2] {'b','a'}", 4),
              ElementsAre(ElementsAre(0, 2, 1, 3)));
  EXPECT_THAT(ParseHloGroups("mesh[a=2,b=2] {b}", 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(HloGroups, PartsOfAnAxis) {
  EXPECT_THAT(
      ParseHloGroups("mesh['a'=8] {'a':(1)2}", 8),
      ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=8] {'a':(2)4}", 8),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=8] {'a':(1)2,'a':(4)2}", 8),
              ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
}

TEST(HloGroups, AMeshInAnotherOrderOfDevices) {
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'b'}", 4),
              ElementsAre(ElementsAre(3, 1), ElementsAre(2, 0)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}", 4),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=1,'b'=2,'c'=2], device_ids=([2,2]T(1,0)) {'a','b'}", 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ParseHloGroups("mesh['a'=3,'b'=2], device_ids=([6]) {'a'}", 6),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
}

TEST(HloGroups, WhatIsNoneOfTheseIsNoGroup) {
  for (const char* value :
       {"", "[2,4]<=[9]", "[2,4]<=[8]T(1,0)", "[0]<=[0]", "[2,2]<=[2,2]T(0,0)", "{{0,x}}",
        "mesh['a'=2] {'b'}", "mesh['a'=8] {'a':(3)4}", "mesh['a'=2,'a'=2] {'a'}",
        "mesh['a'=2], device_ids=(0) {'a'}", "mesh['a'=2], device_ids=([3]) {'a'}",
        "mesh['a'=2], device_ids=([2]T(1)) {'a'}", "mesh['a'=2], device_ids=([2) {'a'}",
        "[1000,1000]<=[1000000]", "mesh['a'=0] {'a'}"}) {
    EXPECT_THAT(ParseHloGroups(value, 8), IsEmpty()) << value;
  }
}

TEST(HloGroups, DevicesOfAModule) {
  EXPECT_EQ(HloDevices("is_scheduled=true, replica_count=2, num_partitions=4"), 8);
  EXPECT_EQ(HloDevices(""), 1);
}

}  // namespace
}  // namespace rapideye::classifier

#include "tests/testbed/worker/recovery.h"

#include <gtest/gtest.h>

#include <thread>

namespace rapideye::testbed {
namespace {

TEST(RecoveryTest, WhatBefellBeforeAHealingIsOver) {
  Recovery recovery;
  const Recovery::Age before = recovery.age();
  EXPECT_FALSE(recovery.Over(before));
  recovery.Heal();
  EXPECT_TRUE(recovery.Over(before));
  EXPECT_FALSE(recovery.Over(recovery.age()));
}

TEST(RecoveryTest, WhoWaitsGoesOnOnceHealed) {
  Recovery recovery;
  bool went_on = false;
  {
    const std::jthread waiting([&, age = recovery.age()](const std::stop_token&) {
      recovery.Await(age, {});  // nothing but healing ends it
      went_on = true;
    });
    recovery.Heal();
  }
  EXPECT_TRUE(went_on);
}

TEST(RecoveryTest, WhoWaitsGoesOnWhenAskedToStop) {
  const Recovery recovery;
  bool went_on = false;
  {
    const std::jthread waiting([&](const std::stop_token& stop) {
      recovery.Await(recovery.age(), stop);
      went_on = true;
    });
  }
  EXPECT_TRUE(went_on);
}

TEST(RecoveryTest, EachUndoRunsOnce) {
  Recovery recovery;
  int undone = 0;
  recovery.OnHeal([&] { ++undone; });
  EXPECT_EQ(undone, 0);
  recovery.Heal();
  recovery.Heal();
  EXPECT_EQ(undone, 1);
}

}  // namespace
}  // namespace rapideye::testbed

#include "coordinator/core/restart_recovery.h"

#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

constexpr char kOne[] = "20260131T235959Z-00000001";
constexpr char kOther[] = "20260131T235959Z-00000002";

wire::Heartbeat Of(const std::string& process) {
  wire::Heartbeat heartbeat;
  heartbeat.process_incarnation = process;
  return heartbeat;
}

class RestartRecoveryTest : public ::testing::Test {
 protected:
  // Workers [from, to) remember it, and show that they still run the process.
  void Remember(int from, int to, const char* incident, bool concluded) {
    for (int task = from; task < to; ++task) {
      recovery_.OnHello({0, task}, wire::IncidentMemory{incident, concluded, "p"});
      recovery_.OnHeartbeat({0, task}, Of("p"), /*advanced=*/false);
    }
  }
  std::string Decided(size_t connected) const {
    const auto decision = recovery_.Decide(connected);
    if (!decision.has_value()) return "nothing";
    if (!decision->confirmed) return "wait";
    return decision->incident + (decision->concluded ? " concluded" : " begun");
  }

  RestartRecovery recovery_;
};

TEST_F(RestartRecoveryTest, MoreThanHalfOfAllDecide) {
  Remember(0, 2, kOne, true);
  EXPECT_EQ(Decided(4), "nothing");
  EXPECT_EQ(Decided(3), std::string(kOne) + " concluded");
}

TEST_F(RestartRecoveryTest, OneLiarNeitherSuppressesNorInvents) {
  Remember(0, 1, kOther, true);
  EXPECT_EQ(Decided(4), "nothing");
  Remember(1, 4, kOne, false);
  EXPECT_EQ(Decided(4), std::string(kOne) + " begun");
  // It says that what the others have only begun is concluded.
  Remember(0, 1, kOne, true);
  EXPECT_EQ(Decided(4), std::string(kOne) + " begun");
}

TEST_F(RestartRecoveryTest, BegunByAllAndConcludedForAFewIsBegun) {
  Remember(0, 2, kOne, true);
  Remember(2, 4, kOne, false);
  EXPECT_EQ(Decided(4), std::string(kOne) + " begun");
  Remember(0, 3, kOne, true);
  EXPECT_EQ(Decided(4), std::string(kOne) + " concluded");
}

TEST_F(RestartRecoveryTest, CountsOnceAHeartbeatHasShownTheSameProcess) {
  for (int task = 0; task < 3; ++task) {
    recovery_.OnHello({0, task}, wire::IncidentMemory{kOne, true, "p"});
  }
  EXPECT_EQ(Decided(4), "wait");
  for (int task = 0; task < 3; ++task) recovery_.OnHeartbeat({0, task}, Of("p"), false);
  EXPECT_EQ(Decided(4), std::string(kOne) + " concluded");
}

TEST_F(RestartRecoveryTest, AnotherProcessOrProgressMakesItVoid) {
  Remember(0, 4, kOne, true);
  recovery_.OnHeartbeat({0, 0}, Of("q"), false);
  EXPECT_EQ(Decided(4), std::string(kOne) + " concluded");
  recovery_.OnHeartbeat({0, 1}, Of("p"), /*advanced=*/true);
  EXPECT_EQ(Decided(4), "nothing");
}

TEST_F(RestartRecoveryTest, NoProcessIsAnotherProcess) {
  recovery_.OnHello({0, 0}, wire::IncidentMemory{kOne, true, "p"});
  recovery_.OnHeartbeat({0, 0}, wire::Heartbeat{}, false);
  EXPECT_EQ(Decided(1), "nothing");
}

TEST_F(RestartRecoveryTest, SaysWhatIsOnDiskUntilItCannotBeRead) {
  Remember(0, 3, kOne, false);
  EXPECT_FALSE(recovery_.Decide(4)->written);
  recovery_.OnDisk({kOther, kOne}, {});
  EXPECT_TRUE(recovery_.Decide(4)->written);
  recovery_.OnUnreadable(kOther);
  EXPECT_TRUE(recovery_.Decide(4)->written);
  recovery_.OnUnreadable(kOne);
  EXPECT_FALSE(recovery_.Decide(4)->written);
}

TEST_F(RestartRecoveryTest, MayDecideUntilAllHadTheTimeToCome) {
  EXPECT_FALSE(recovery_.MayDecide(/*settled=*/false, 4));
  Remember(0, 1, kOne, true);
  EXPECT_TRUE(recovery_.MayDecide(/*settled=*/false, 4));
  EXPECT_FALSE(recovery_.MayDecide(/*settled=*/true, 4));
  Remember(1, 3, kOne, true);
  EXPECT_TRUE(recovery_.MayDecide(/*settled=*/true, 4));
}

TEST_F(RestartRecoveryTest, LastHelloCounts) {
  Remember(0, 1, kOne, true);
  recovery_.OnHello({0, 0}, std::nullopt);
  EXPECT_FALSE(recovery_.Any());
  Remember(0, 1, kOne, true);
  recovery_.OnLeave({0, 0});
  EXPECT_FALSE(recovery_.Any());
}

}  // namespace
}  // namespace rapideye::coordinator

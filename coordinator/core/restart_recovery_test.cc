#include "coordinator/core/restart_recovery.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "coordinator/core/limits.h"

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
  // Workers [from, to) remember the incident, and show that they still run the process.
  void Remember(int from, int to, const char* incident, bool concluded) {
    for (int task = from; task < to; ++task) {
      Hello(task, wire::IncidentMemory{incident, concluded, "p"});
      recovery_.OnHeartbeat({0, task}, Of("p"), /*advanced=*/false);
    }
  }
  void Hello(int task, const std::optional<wire::IncidentMemory>& memory) {
    recovery_.OnHello({0, task}, memory, "10.0.0." + std::to_string(task));
    connected_.insert(task);
  }
  // Lets workers come without a memory, and the last ones leave for good, until `connected` are
  // there.
  void Connect(int connected) {
    for (int task = 0; task < connected; ++task) {
      if (!connected_.contains(task)) Hello(task, std::nullopt);
    }
    while (*connected_.rbegin() >= connected) {
      Leave(*connected_.rbegin());
    }
    recovery_.Follow(now_ += kSettleTime);
  }
  void Leave(int task) {
    recovery_.OnLeave({0, task}, now_);
    connected_.erase(task);
  }
  std::string Decided(int connected) {
    Connect(connected);
    const auto decision = recovery_.Decide();
    if (!decision.has_value()) return "nothing";
    if (!decision->confirmed) return "wait";
    return decision->incident + (decision->concluded ? " concluded" : " begun");
  }

  RestartRecovery recovery_;
  std::set<int> connected_;
  absl::Duration now_ = absl::ZeroDuration();
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
  // The host states as concluded an incident that the others have only begun.
  Remember(0, 1, kOne, true);
  EXPECT_EQ(Decided(4), std::string(kOne) + " begun");
}

// Four ghosts of one host among three honest workers, each on its own.
TEST_F(RestartRecoveryTest, WorkersOfOneHostCountAsOne) {
  Connect(3);
  for (int ghost = 100; ghost < 104; ++ghost) {
    recovery_.OnHello({0, ghost}, wire::IncidentMemory{kOther, true, "g"}, "10.6.6.6");
    recovery_.OnHeartbeat({0, ghost}, Of("g"), /*advanced=*/false);
  }
  EXPECT_FALSE(recovery_.Decide().has_value());
  for (int ghost = 100; ghost < 104; ++ghost) Leave(ghost);
  // A whole job on one host still decides by its workers.
  for (int task = 0; task < 3; ++task) Leave(task);
  recovery_.Follow(now_ += kSettleTime);
  for (int task = 0; task < 3; ++task) {
    recovery_.OnHello({0, task}, wire::IncidentMemory{kOne, true, "p"}, "127.0.0.1");
    recovery_.OnHeartbeat({0, task}, Of("p"), /*advanced=*/false);
  }
  recovery_.OnHello({0, 3}, std::nullopt, "127.0.0.1");
  ASSERT_TRUE(recovery_.Decide().has_value());
  EXPECT_TRUE(recovery_.Decide()->concluded);
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
    Hello(task, wire::IncidentMemory{kOne, true, "p"});
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
  Hello(0, wire::IncidentMemory{kOne, true, "p"});
  recovery_.OnHeartbeat({0, 0}, wire::Heartbeat{}, false);
  EXPECT_EQ(Decided(1), "nothing");
}

TEST_F(RestartRecoveryTest, SaysWhatIsOnDiskUntilItCannotBeRead) {
  Remember(0, 3, kOne, false);
  Connect(4);
  EXPECT_FALSE(recovery_.Decide()->written);
  recovery_.OnDisk({kOther, kOne}, {});
  EXPECT_TRUE(recovery_.Decide()->written);
  recovery_.OnUnreadable(kOther);
  EXPECT_TRUE(recovery_.Decide()->written);
  recovery_.OnUnreadable(kOne);
  EXPECT_FALSE(recovery_.Decide()->written);
}

TEST_F(RestartRecoveryTest, MayDecideUntilAllHadTheTimeToCome) {
  EXPECT_FALSE(recovery_.MayDecide(/*settled=*/false));
  Remember(0, 1, kOne, true);
  Connect(4);
  EXPECT_TRUE(recovery_.MayDecide(/*settled=*/false));
  EXPECT_FALSE(recovery_.MayDecide(/*settled=*/true));
  Remember(1, 3, kOne, true);
  EXPECT_TRUE(recovery_.MayDecide(/*settled=*/true));
}

TEST_F(RestartRecoveryTest, LastHelloCounts) {
  Remember(0, 1, kOne, true);
  Hello(0, std::nullopt);
  EXPECT_FALSE(recovery_.Any());
  Remember(0, 1, kOne, true);
  Leave(0);
  recovery_.Follow(now_ += kSettleTime);
  EXPECT_FALSE(recovery_.Any());
}

// A stream that breaks for a moment must not leave the decision to the one that stays.
TEST_F(RestartRecoveryTest, WhoHasJustLeftCounts) {
  Remember(0, 1, kOther, true);
  Connect(2);
  Leave(1);
  EXPECT_FALSE(recovery_.Decide().has_value());
  recovery_.Follow(now_ + kSettleTime - absl::Seconds(1));
  EXPECT_FALSE(recovery_.Decide().has_value());
  Hello(1, std::nullopt);
  recovery_.Follow(now_ + kSettleTime);
  EXPECT_FALSE(recovery_.Decide().has_value());
  Leave(1);
  recovery_.Follow(now_ + kSettleTime);
  EXPECT_TRUE(recovery_.Decide().has_value());
}

TEST_F(RestartRecoveryTest, TheVoteOfWhoHasJustLeftCounts) {
  Remember(0, 3, kOne, true);
  Connect(5);
  Leave(0);
  Leave(3);
  EXPECT_TRUE(recovery_.Decide().has_value());
  recovery_.Follow(now_ += kSettleTime);
  EXPECT_TRUE(recovery_.Decide().has_value());
  Connect(4);
  EXPECT_FALSE(recovery_.Decide().has_value());
}

}  // namespace
}  // namespace rapideye::coordinator

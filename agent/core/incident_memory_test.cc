#include "agent/core/incident_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/core_script.h"

namespace rapideye::agent {
namespace {

using ::testing::Optional;

constexpr char kOne[] = "20260131T235959Z-00000001";
constexpr char kOther[] = "20260131T235959Z-00000002";

class IncidentMemoryTest : public testing::Test {
 protected:
  // A worker in a launch, seen and welcome.
  IncidentMemoryTest() {
    script_.reading = Serving({Running(0, "aa", 1, 5)});
    script_.Welcome();
    script_.Pass(absl::Seconds(6));
  }

  void Collect(std::optional<std::string> incident) {
    script_.Receive(wire::Collect{1, true, absl::Seconds(2), std::move(incident)});
  }
  // What the next Hello says.
  std::optional<wire::IncidentMemory> Told() {
    script_.Step(StreamClosed{script_.stream, absl::UnavailableError("gone")});
    const int connects = script_.connects;
    while (script_.connects == connects) script_.Pass(absl::Milliseconds(50));
    script_.Welcome();
    return script_.Sent<wire::Hello>().back().incident;
  }
  std::string Process() const { return *script_.Describe().incarnation; }

  CoreScript script_;
};

TEST_F(IncidentMemoryTest, NothingToRememberInHealth) { EXPECT_EQ(Told(), std::nullopt); }

TEST_F(IncidentMemoryTest, RemembersWhatItCollectedForAndWhetherItIsConcluded) {
  Collect(kOne);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
  // Asked once more for the same: it stays concluded.
  Collect(kOne);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
  Collect(kOther);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOther, false, Process()}));
}

TEST_F(IncidentMemoryTest, CollectionForNoIncidentLeavesNoTrace) {
  Collect(std::nullopt);
  EXPECT_EQ(Told(), std::nullopt);
  Collect(kOne);
  Collect(std::nullopt);
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
}

TEST_F(IncidentMemoryTest, ALaunchThatCompletesEndsIt) {
  Collect(kOne);
  script_.reading = Serving({Running(0, "aa", 1, 9)});  // the pc moves: no completion
  script_.Pass(absl::Seconds(6));
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, false, Process()}));
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(6));
  EXPECT_EQ(Told(), std::nullopt);
}

// A coordinator that comes later learns its thresholds from these.
TEST_F(IncidentMemoryTest, WhatAHangTookIsNoMeasureOfLaunches) {
  const auto longest_of = [this](const std::string& program, bool concluded) {
    script_.reading = Serving({Running(0, program, 1, 5)});
    script_.Pass(absl::Seconds(6));
    Collect(kOne);
    if (concluded) script_.Receive(wire::Concluded{kOne});
    script_.Pass(absl::Minutes(10));
    script_.reading = Serving({Running(0, program, 2, 5)});
    script_.Pass(absl::Seconds(6));
    return script_.Sent<wire::Heartbeat>().back().programs.back().longest.value();
  };
  EXPECT_GE(longest_of("bb", /*concluded=*/false), absl::Minutes(10));  // it was looked at, only
  EXPECT_LE(longest_of("cc", /*concluded=*/true), absl::Seconds(20));
}

TEST_F(IncidentMemoryTest, AnotherProcessEndsIt) {
  Collect(kOne);
  script_.Receive(wire::Concluded{kOne});
  const RuntimeReading serving = script_.reading;
  script_.reading = NotServing(RuntimeState::kUnavailable, "connection refused");
  script_.Pass(absl::Seconds(6));
  EXPECT_TRUE(Told().has_value());  // the process is gone; that is the hang's end, not its cure
  script_.reading = serving;
  script_.Pass(absl::Seconds(6));
  EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(IncidentMemoryTest, ConcludedWithoutItIsForThoseWhoStandStill) {
  script_.reading = Serving({Running(0, "aa", 2, 5)});
  script_.Pass(absl::Seconds(6));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_EQ(Told(), std::nullopt);
  script_.Pass(absl::Seconds(30));
  script_.Receive(wire::Concluded{kOne});
  EXPECT_THAT(Told(), Optional(wire::IncidentMemory{kOne, true, Process()}));
}

TEST_F(IncidentMemoryTest, EveryStreamHasAHigherNumber) {
  Told();
  Told();
  const auto hellos = script_.Sent<wire::Hello>();
  ASSERT_EQ(hellos.size(), 3u);
  EXPECT_EQ(hellos[0].connection, 1);
  EXPECT_EQ(hellos[2].connection, 3);
}

TEST(IncidentMemory, RestoredIsForTheSameProcessOnly) {
  IncidentMemory memory;
  memory.Restore(wire::IncidentMemory{kOne, true, "17@4"});
  memory.Watching("17@4");
  EXPECT_TRUE(memory.memory().has_value());
  memory.Watching("18@9");
  EXPECT_FALSE(memory.memory().has_value());
}

}  // namespace
}  // namespace rapideye::agent

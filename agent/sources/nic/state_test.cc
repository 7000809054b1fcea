#include "agent/sources/nic/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

NicSample Card(const char* name, bool up, int64_t changes = 3, int64_t rx = 7, int64_t tx = 0) {
  return {name, up, /*physical=*/true, changes, rx, tx};
}
NicSample Bridge(const char* name, bool up) { return {name, up, false, 1, 0, 0}; }

class Script {
 public:
  // A look; then, if the job is healthy, it advances.
  void Look(std::vector<NicSample> nics, bool advances) {
    now_ += absl::Seconds(10);
    state_.Observe({std::move(nics), ""}, {.last_progress = progress_}, now_, notices_);
    if (advances) progress_ = now_ + absl::Seconds(1);
  }
  std::vector<Nic> Nics() const {
    Snapshot snapshot;
    state_.AddTo(snapshot, {});
    return snapshot.nics;
  }

  NicState state_;
  Notices notices_;
  absl::Duration now_ = absl::Hours(1);
  absl::Duration progress_ = absl::Minutes(1);
};

TEST(NicStateTest, CountsSinceHealth) {
  Script script;
  script.Look({Card("eth1", true, 3, 100, 5)}, true);
  script.Look({Card("eth1", false, 4, 104, 5)}, false);
  ASSERT_THAT(script.Nics(), SizeIs(1));
  const Nic nic = script.Nics().front();
  EXPECT_EQ(nic.name, "eth1");
  EXPECT_FALSE(nic.up);
  EXPECT_EQ(nic.carrier_changes, 1);
  EXPECT_EQ(nic.rx_errors, 4);
  EXPECT_EQ(nic.tx_errors, 0);
}

TEST(NicStateTest, LooksDuringAHangAreNotHealth) {
  Script script;
  script.Look({Card("eth1", true, 3)}, true);
  script.Look({Card("eth1", false, 4)}, false);
  script.Look({Card("eth1", false, 4)}, false);
  EXPECT_EQ(script.Nics().front().carrier_changes, 1);
}

TEST(NicStateTest, WhatWasDownInHealthIsNoEvidence) {
  Script script;
  script.Look({Card("eth1", true), Card("eth3", false), Bridge("docker0", false)}, true);
  script.Look(
      {Card("eth1", true), Card("eth3", false), Bridge("docker0", false), Bridge("virbr0", false)},
      false);
  ASSERT_THAT(script.Nics(), SizeIs(1));
  EXPECT_EQ(script.Nics().front().name, "eth1");
}

TEST(NicStateTest, ANicThatHasVanishedIsDown) {
  Script script;
  script.Look({Card("eth1", true), Card("eth2", true), Bridge("docker0", false)}, true);
  script.Look({Card("eth2", true)}, false);
  ASSERT_THAT(script.Nics(), SizeIs(2));
  EXPECT_EQ(script.Nics().back().name, "eth1");
  EXPECT_FALSE(script.Nics().back().up);
}

TEST(NicStateTest, WithoutHealthOnlyCarriersAreTold) {
  Script script;
  EXPECT_THAT(script.Nics(), IsEmpty());
  script.Look({Card("eth1", false), Card("eth2", true), Bridge("docker0", false)}, false);
  ASSERT_THAT(script.Nics(), SizeIs(2));
  EXPECT_FALSE(script.Nics().front().up);
  EXPECT_EQ(script.Nics().front().rx_errors, std::nullopt);
}

TEST(NicStateTest, ACounterThatBeganAnewCountsFromZero) {
  Script script;
  script.Look({Card("eth1", true, 9, 100)}, true);
  script.Look({Card("eth1", true, 1, 2)}, false);
  EXPECT_EQ(script.Nics().front().carrier_changes, 1);
  EXPECT_EQ(script.Nics().front().rx_errors, 2);
}

TEST(NicStateTest, ALookThatFailedChangesNothing) {
  Script script;
  script.Look({Card("eth1", true)}, true);
  script.state_.Observe({{}, "no /sys"}, {.last_progress = script.progress_},
                        script.now_ + absl::Seconds(1), script.notices_);
  EXPECT_THAT(script.Nics(), SizeIs(1));
}

}  // namespace
}  // namespace rapideye::agent

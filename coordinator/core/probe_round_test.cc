#include "coordinator/core/probe_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kNow = absl::Seconds(50);
constexpr WorkerId kA{0, 0};
constexpr WorkerId kB{1, 0};
constexpr WorkerId kC{0, 1};

PlannedProbe Planned(const WorkerId& prober, const WorkerId& peer, const std::string& nic,
                     bool control = false) {
  return {prober, {peer, nic, FromV4({10, 0, 0, 1})}, control};
}

Probe Made(const WorkerId& peer, const std::string& nic, bool ok) {
  Probe probe;
  probe.peer = peer;
  probe.nic = nic;
  probe.ok = ok;
  return probe;
}

class ProbeRoundTest : public testing::Test {
 protected:
  void Begin(std::vector<PlannedProbe> plan) {
    round_.Begin(7, std::move(plan), {{kA, 1}, {kB, 2}, {kC, 3}}, kProbeDeadline, kNow, effects_);
  }
  absl::Status Reply(const WorkerId& worker, std::vector<Probe> probes) {
    return round_.OnReply(worker, {.collection = 7, .probes = std::move(probes), .error = ""});
  }
  std::map<WorkerId, Snapshot> Settled() {
    std::map<WorkerId, Snapshot> snapshots;
    for (const WorkerId& worker : {kA, kB, kC}) snapshots[worker].worker = worker;
    round_.Settle(snapshots, effects_);
    return snapshots;
  }
  bool Logged(const std::string& part) const {
    return std::any_of(effects_.begin(), effects_.end(), [&](const Effect& effect) {
      const auto* log = std::get_if<Log>(&effect);
      return log != nullptr && absl::StrContains(log->text, part);
    });
  }

  ProbeRound round_;
  Effects effects_;
};

TEST_F(ProbeRoundTest, NothingPlannedIsDoneAtOnce) {
  Begin({});
  EXPECT_THAT(effects_, IsEmpty());
  EXPECT_TRUE(round_.Done(kNow));
  EXPECT_EQ(round_.until(), -absl::InfiniteDuration());
}

TEST_F(ProbeRoundTest, EachProberIsAskedOnceForAllOfIts) {
  Begin({Planned(kA, kB, "eth1"), Planned(kA, kC, "eth1"), Planned(kB, kA, "eth1"),
         Planned({9, 9}, kA, "eth1")});
  ASSERT_THAT(effects_, SizeIs(2));  // 9/9 is not connected
  const auto& send = std::get<Send>(effects_[0]);
  EXPECT_EQ(send.stream, 1);
  const auto& request = std::get<wire::ProbeRequest>(send.message);
  EXPECT_EQ(request.collection, 7);
  EXPECT_THAT(request.targets, SizeIs(2));
  EXPECT_EQ(round_.asked(), 3u);
  EXPECT_FALSE(round_.Done(kNow));
  EXPECT_TRUE(round_.Done(kNow + kProbeDeadline));
  EXPECT_EQ(round_.until(), kNow + kProbeDeadline);
}

TEST_F(ProbeRoundTest, IsDoneOnceAllHaveAnsweredOrGone) {
  Begin({Planned(kA, kB, "eth1"), Planned(kB, kA, "eth1")});
  EXPECT_TRUE(Reply(kA, {Made(kB, "eth1", false)}).ok());
  EXPECT_FALSE(round_.Done(kNow));
  round_.Leave(kB);
  EXPECT_TRUE(round_.Done(kNow));
  EXPECT_THAT(Settled()[kA].probes, SizeIs(1));
}

TEST_F(ProbeRoundTest, AnAnswerTellsOnlyOfWhatWasAsked) {
  Begin({Planned(kA, kB, "eth1"), Planned(kA, kC, "eth1")});
  EXPECT_TRUE(absl::IsInvalidArgument(Reply(kC, {})));
  EXPECT_TRUE(absl::IsInvalidArgument(Reply(kA, {Made(kA, "eth1", false)})));
  EXPECT_TRUE(absl::IsInvalidArgument(Reply(kA, {Made(kB, "eth2", false)})));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Reply(kA, {Made(kB, "eth1", false), Made(kB, "eth1", true)})));
  // An agent may leave out some probes.
  EXPECT_TRUE(Reply(kA, {Made(kC, "eth1", true)}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Reply(kA, {Made(kC, "eth1", true)})));
}

TEST_F(ProbeRoundTest, WhatWasShownGoesIntoTheProbersSnapshot) {
  Begin({Planned(kA, kB, "eth1"), Planned(kC, kB, "eth1"), Planned(kC, kA, "eth1", true)});
  EXPECT_TRUE(Reply(kA, {Made(kB, "eth1", false)}).ok());
  EXPECT_TRUE(Reply(kC, {Made(kB, "eth1", true), Made(kA, "eth1", true)}).ok());
  std::map<WorkerId, Snapshot> snapshots = Settled();
  ASSERT_THAT(snapshots[kA].probes, SizeIs(1));
  EXPECT_FALSE(snapshots[kA].probes[0].ok);
  EXPECT_THAT(snapshots[kC].probes, SizeIs(2));
  EXPECT_THAT(snapshots[kB].probes, IsEmpty());
  EXPECT_TRUE(Logged("2 workers were asked for 3 probes: 2 answered, 1 not"));
}

TEST_F(ProbeRoundTest, ANetworkThatCarriesNoProbesProvesNothing) {
  Begin({Planned(kA, kB, "eth1"), Planned(kC, kA, "eth1", true), Planned(kA, kB, "eth0")});
  EXPECT_TRUE(Reply(kA, {Made(kB, "eth1", false), Made(kB, "eth0", false)}).ok());
  EXPECT_TRUE(Reply(kC, {Made(kA, "eth1", false)}).ok());
  std::map<WorkerId, Snapshot> snapshots = Settled();
  // The probe by eth0 has no other to compare with.
  ASSERT_THAT(snapshots[kA].probes, SizeIs(1));
  EXPECT_EQ(snapshots[kA].probes[0].nic, "eth0");
  EXPECT_THAT(snapshots[kC].probes, IsEmpty());
  EXPECT_TRUE(Logged("--probe-port"));
}

TEST_F(ProbeRoundTest, WhyProbesWereLeftOutIsLoggedSafely) {
  Begin({Planned(kA, kB, "eth1")});
  EXPECT_TRUE(round_.OnReply(kA, {.collection = 7, .probes = {}, .error = "switched\noff"}).ok());
  Settled();
  EXPECT_TRUE(Logged("left out probes"));
  EXPECT_FALSE(Logged("\n"));
}

TEST_F(ProbeRoundTest, WhoHasNotAnsweredIsToldNotTo) {
  Begin({Planned(kA, kB, "eth1"), Planned(kB, kA, "eth1")});
  EXPECT_TRUE(Reply(kA, {}).ok());
  effects_.clear();
  round_.Cancel(effects_);
  ASSERT_THAT(effects_, SizeIs(1));
  EXPECT_EQ(std::get<Send>(effects_[0]).stream, 2);
}

}  // namespace
}  // namespace rapideye::coordinator

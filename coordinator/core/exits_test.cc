#include "coordinator/core/exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Process Lives() { return {.pid = 7, .state = ProcessState::kSleeping}; }
Process Ended(int status) {
  return {.pid = 7, .state = ProcessState::kExited, .exit_code = status};
}
Process Killed(int signal) { return {.pid = 7, .state = ProcessState::kExited, .signal = signal}; }

class ExitsTest : public ::testing::Test {
 protected:
  Snapshot& at(int task) { return snapshots_[{0, task}]; }
  bool MayBeTheEnd() const { return MayBeTheEndOfTheRun(snapshots_); }

  std::map<WorkerId, Snapshot> snapshots_;
};

TEST_F(ExitsTest, NoFailureIsNothingToWaitFor) {
  EXPECT_FALSE(MayBeTheEnd());
  at(0).processes = {Lives()};
  at(1).processes = {Ended(0)};
  EXPECT_FALSE(MayBeTheEnd());
}

TEST_F(ExitsTest, TheOthersShowNothingYet) {
  at(0).processes = {Lives()};
  at(1).processes = {Ended(134)};
  EXPECT_TRUE(MayBeTheEnd());
  at(1).processes = {Killed(6)};
  EXPECT_TRUE(MayBeTheEnd());
  at(0).cores.emplace_back();  // idle
  at(0).log_events.push_back({.kind = LogKind::kBenign});
  EXPECT_TRUE(MayBeTheEnd());
}

TEST_F(ExitsTest, AnErrorOfAnotherWorkerShowsThatItWasInTheMiddle) {
  at(0).processes = {Lives()};
  at(0).log_events.push_back({.kind = LogKind::kFollowOn});
  at(1).processes = {Killed(9)};
  EXPECT_FALSE(MayBeTheEnd());
}

TEST_F(ExitsTest, ItsOwnErrorDoesNot) {
  at(0).processes = {Lives()};
  at(1).processes = {Ended(1)};
  at(1).log_events.push_back({.kind = LogKind::kUncaughtException});
  EXPECT_TRUE(MayBeTheEnd());
}

TEST_F(ExitsTest, WhatADeviceRunsShowsThatItWasInTheMiddle) {
  at(0).processes = {Lives()};
  at(1).processes = {Killed(9)};
  at(0).cores.emplace_back().queued.push_back({.launch_id = 3});
  EXPECT_FALSE(MayBeTheEnd());
  at(0).cores.back() = Core{};
  at(0).cores.back().sequencers.push_back({.pc = 0x40});
  EXPECT_FALSE(MayBeTheEnd());
}

// A job without chips, two of whose workers matter here.
class ExitAlarmTest : public ::testing::Test {
 protected:
  ExitAlarmTest() : job_(Options(), 1, 2) {
    job_.Run(absl::Minutes(1));
    for (auto& [id, agent] : job_.agents()) {
      agent.in_flight = false;
      agent.processes = {Lives()};
    }
    job_.Freeze();
    job_.at(0, 1).processes = {Killed(6)};
    job_.Say(job_.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 6"});
  }

  FakeJob job_;
};

TEST_F(ExitAlarmTest, TheSecondRoundWaitsForWhatBecomesOfTheOthers) {
  job_.Run(kExitsSettle - absl::Seconds(1));
  EXPECT_THAT(job_.concluded(), IsEmpty());
  job_.at(0, 0).processes = {Ended(0)};
  job_.Run(absl::Seconds(2));
  ASSERT_THAT(job_.concluded(), SizeIs(1));
  EXPECT_EQ(job_.concluded()[0].capture.snapshots[0].processes, std::vector{Ended(0)});
}

TEST_F(ExitAlarmTest, ALostWorkerLeavesWhatTheFirstRoundSaw) {
  job_.Run(absl::Seconds(1));
  job_.Disconnect(job_.at(0, 1));
  job_.Run(kExitsSettle);
  ASSERT_THAT(job_.concluded(), SizeIs(1));
  EXPECT_EQ(job_.concluded()[0].capture.snapshots[1].processes, std::vector{Killed(6)});
}

TEST(ExitAlarm, InTheMiddleOfAStepIsConcludedAtOnce) {
  FakeJob job(Options(), 1, 2);
  job.Run(absl::Minutes(1));
  job.Freeze();  // the others stand in a launch
  job.at(0, 1).processes = {Killed(9)};
  job.Say(job.at(0, 1), wire::Alarm{wire::AlarmKind::kProcessExit, "killed by signal 9"});
  job.Run(2 * kRoundInterval);
  EXPECT_THAT(job.concluded(), SizeIs(1));
}

}  // namespace
}  // namespace rapideye::coordinator

// Tests of further looks at a job that stands: after an excuse, after UNKNOWN, after a verdict
// without a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LooksTest : public ::testing::Test {
 protected:
  // The first look at a job that has just stopped.
  std::string FirstLook() {
    EXPECT_TRUE(job_.RunUntilConclude(absl::Seconds(30)));
    return job_.concluded()[0].incident_id;
  }
  void Conclude(IncidentConcluded event) {
    event.incident_id = job_.concluded().back().incident_id;
    job_.Step(event);
  }
  JobStatus Status() {
    job_.Step(StatusRequested{1});
    return job_.statuses().back().status;
  }
  void GoOn() {
    job_.Thaw();
    job_.Run(absl::Seconds(30));
  }

  FakeJob job_ = Frozen();
};

TEST_F(LooksTest, AVerdictThatNamesACauseStands) {
  FirstLook();
  Conclude({.hang = true});
  EXPECT_EQ(Status().next_look, std::nullopt);
  job_.Run(absl::Hours(1));
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

TEST_F(LooksTest, UnknownIsLookedAtAgainUnderTheSameName) {
  const std::string incident = FirstLook();
  EXPECT_FALSE(job_.concluded()[0].again);
  Conclude({.hang = true, .unknown = true});
  ASSERT_TRUE(Status().next_look.has_value());
  job_.Run(kLookAfterUnknown - absl::Seconds(2));
  EXPECT_THAT(job_.concluded(), SizeIs(1));
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(10)));
  EXPECT_EQ(job_.concluded()[1].incident_id, incident);
  EXPECT_TRUE(job_.concluded()[1].again);
  EXPECT_EQ(job_.core().counters().further_looks, 1);
  Conclude({.hang = true, .revision = 2});
  EXPECT_EQ(job_.core().counters().incidents, 1);
  const JobStatus status = Status();
  EXPECT_EQ(status.activity, Activity::kWaiting);
  EXPECT_EQ(status.last_incident, incident);
  EXPECT_EQ(status.last_revision, 2);
  EXPECT_EQ(status.next_look, std::nullopt);
  job_.Run(absl::Hours(1));
  EXPECT_THAT(job_.concluded(), SizeIs(2));
}

TEST_F(LooksTest, TheStatusTellsTheVerdictOfTheLastDigest) {
  FirstLook();
  Conclude({.hang = true, .unknown = true, .verdict = ToldVerdict{.cause = "UNKNOWN"}});
  ASSERT_TRUE(Status().last_verdict.has_value());
  EXPECT_EQ(Status().last_verdict->cause, "UNKNOWN");
  ASSERT_TRUE(job_.RunUntilConclude(kLookAfterUnknown + absl::Seconds(10)));
  Conclude({.hang = true, .unknown = true});  // as seen again: no digest
  EXPECT_EQ(Status().last_verdict->cause, "UNKNOWN");
  ASSERT_TRUE(job_.RunUntilConclude(kLongestLookInterval));
  Conclude({.hang = true, .revision = 2, .verdict = ToldVerdict{.cause = "DATA_INPUT_STALL"}});
  EXPECT_EQ(Status().last_verdict->cause, "DATA_INPUT_STALL");
}

TEST_F(LooksTest, LooksBecomeRarerAndEnd) {
  FirstLook();
  size_t looks = 0;
  absl::Duration last = absl::ZeroDuration();
  for (;; ++looks) {
    Conclude({.hang = true, .unknown = true});
    const absl::Duration concluded = job_.now().monotonic;
    if (!job_.RunUntilConclude(2 * kLongestLookInterval, absl::Seconds(5))) break;
    const absl::Duration wait = job_.now().monotonic - concluded;
    EXPECT_LT(wait, kLongestLookInterval + absl::Seconds(30));
    EXPECT_GE(wait, std::min(last, kLongestLookInterval)) << looks;
    last = wait - absl::Seconds(30);
  }
  EXPECT_EQ(looks, static_cast<size_t>(kMaxLooks));
}

TEST_F(LooksTest, AJobThatAdvancesIsNotLookedAtAgain) {
  FirstLook();
  Conclude({.hang = true, .unknown = true});
  GoOn();
  EXPECT_TRUE(job_.Logged("watching again"));
  job_.Run(absl::Hours(1));
  EXPECT_THAT(job_.concluded(), SizeIs(1));
  EXPECT_EQ(Status().next_look, std::nullopt);
}

// The hang is the same until the job advances; a later hang is another.
TEST_F(LooksTest, AHangAfterARecoveryHasAnotherName) {
  const std::string incident = FirstLook();
  Conclude({.hang = true, .unknown = true});
  GoOn();
  job_.Freeze();
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(30)));
  EXPECT_NE(job_.concluded()[1].incident_id, incident);
  EXPECT_FALSE(job_.concluded()[1].again);
}

TEST_F(LooksTest, AJobThatRecoversDuringALookIsWatchedAgain) {
  FirstLook();
  Conclude({.hang = true, .unknown = true});
  for (auto& [id, agent] : job_.agents()) agent.answers = false;
  job_.Run(kLookAfterUnknown + absl::Seconds(2));
  ASSERT_EQ(Status().activity, Activity::kCollecting);
  job_.Thaw();
  job_.Run(absl::Seconds(3));
  EXPECT_EQ(Status().activity, Activity::kArmed);
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

TEST_F(LooksTest, ALookThatNobodyAnswersIsMadeUpFor) {
  const std::string incident = FirstLook();
  Conclude({.hang = true, .unknown = true});
  for (auto& [id, agent] : job_.agents()) agent.answers = false;
  job_.Run(kLookAfterUnknown + absl::Seconds(30));
  EXPECT_EQ(Status().activity, Activity::kWaiting);
  for (auto& [id, agent] : job_.agents()) agent.answers = true;
  ASSERT_TRUE(job_.RunUntilConclude(absl::Minutes(5)));
  EXPECT_EQ(job_.concluded()[1].incident_id, incident);
}

TEST_F(LooksTest, WhatIsToldStaysToldWhateverALaterLookSays) {
  FirstLook();
  Conclude({.hang = true, .unknown = true});
  ASSERT_TRUE(job_.RunUntilConclude(2 * kLookAfterUnknown));
  Conclude({.hang = false});
  EXPECT_EQ(Status().activity, Activity::kWaiting);
  ASSERT_TRUE(job_.RunUntilConclude(absl::Hours(1)));
  EXPECT_TRUE(job_.concluded()[2].again);
}

TEST_F(LooksTest, AnExcuseIsLookedAtWhenItEnds) {
  const std::string incident = FirstLook();
  Conclude({.hang = false, .excused = absl::Seconds(14)});
  EXPECT_EQ(Status().next_look, kLookAfterNoHang);
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(13)));
  EXPECT_EQ(job_.concluded()[1].incident_id, incident);
  EXPECT_FALSE(job_.concluded()[1].again);
  Conclude({.hang = false, .excused = absl::Seconds(12)});
  const absl::Duration begun = job_.now().monotonic;
  ASSERT_TRUE(job_.RunUntilConclude(absl::Minutes(1)));
  EXPECT_GE(job_.now().monotonic - begun, absl::Seconds(12));
  EXPECT_LE(job_.now().monotonic - begun, absl::Seconds(15));
  Conclude({.hang = true});
  EXPECT_EQ(job_.core().counters().incidents, 1);
  EXPECT_EQ(Status().last_incident, incident);
}

TEST_F(LooksTest, AnExcuseThatEndsWithProgressWasNone) {
  FirstLook();
  Conclude({.hang = false, .excused = absl::Minutes(5)});
  GoOn();
  EXPECT_EQ(Status().next_look, std::nullopt);
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

// An alarm that a worker raises by itself waits for no schedule.
TEST_F(LooksTest, AnAlarmIsHeardDuringAnExcuse) {
  const std::string incident = FirstLook();
  for (int i = 0; i < 3; ++i) {
    Conclude({.hang = false, .excused = absl::Hours(1)});
    ASSERT_TRUE(job_.RunUntilConclude(absl::Minutes(2)));
  }
  Conclude({.hang = false, .excused = absl::Hours(1)});
  job_.Run(absl::Seconds(15));
  job_.Say(job_.at(0, 1), wire::Alarm{wire::AlarmKind::kCoreHalt, "halted"});
  ASSERT_TRUE(job_.RunUntilConclude(absl::Seconds(15)));
  EXPECT_EQ(job_.concluded().back().incident_id, incident);
  EXPECT_EQ(job_.concluded().back().capture.header.trigger, "halt");
}

TEST_F(LooksTest, ARestartOfTheJobEndsThem) {
  const std::string incident = FirstLook();
  Conclude({.hang = true, .unknown = true});
  for (auto& [id, agent] : job_.agents()) agent.process = "p2";
  job_.Run(absl::Minutes(5));
  EXPECT_EQ(Status().next_look, std::nullopt);
  // The new incarnation stands, too, and that is another hang.
  ASSERT_THAT(job_.concluded(), SizeIs(2));
  EXPECT_NE(job_.concluded()[1].incident_id, incident);
  EXPECT_FALSE(job_.concluded()[1].again);
}

// A new coordinator knows the digest that was told, and that the hang is not settled.
TEST_F(LooksTest, AnotherCoordinatorGoesOnWithThem) {
  const std::string incident = FirstLook();
  Conclude({.hang = true, .unknown = true});
  job_.RestartCoordinator();
  job_.Step(IncidentsOnDisk{{incident}, {incident}});
  job_.ConnectAll();
  ASSERT_TRUE(job_.RunUntilConclude(3 * kLookAfterUnknown));
  EXPECT_EQ(job_.concluded()[1].incident_id, incident);
  EXPECT_TRUE(job_.concluded()[1].again);
  EXPECT_THAT(job_.retold(), IsEmpty());
}

TEST_F(LooksTest, AnotherCoordinatorLeavesAVerdictThatNamesACause) {
  const std::string incident = FirstLook();
  Conclude({.hang = true});
  job_.RestartCoordinator();
  job_.Step(IncidentsOnDisk{{incident}, {}});
  job_.ConnectAll();
  job_.Run(absl::Hours(1));
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

TEST_F(LooksTest, AStopDuringALookChangesNothing) {
  FirstLook();
  Conclude({.hang = true, .unknown = true});
  for (auto& [id, agent] : job_.agents()) agent.grants_only = true;
  job_.Run(kLookAfterUnknown + absl::Seconds(2));
  ASSERT_EQ(Status().activity, Activity::kCollecting);
  job_.Step(Stop{});
  EXPECT_TRUE(job_.core().Finished());
  EXPECT_THAT(job_.concluded(), SizeIs(1));
}

}  // namespace
}  // namespace rapideye::coordinator

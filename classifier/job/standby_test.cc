#include "classifier/job/standby.h"

#include <gtest/gtest.h>

#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

// Slice 2 shows no trace of a launch, and has been watched for so long.
Scenario WithIdleSlice(int64_t stood_ms) {
  Scenario s({.slices = 3});
  for (int task = 0; task < s.shape().tasks; ++task) {
    s.At(2, task).programs.clear();
    for (Core& core : s.At(2, task).cores) {
      core.program.reset();
      core.launch_id.reset();
      core.queued.clear();
      core.stuck_ms = stood_ms;
      for (Sequencer& sequencer : core.sequencers) {
        sequencer.pc = sequencer.tag = 0;
        sequencer.run_id.reset();
        sequencer.frozen_ms = stood_ms;
      }
    }
  }
  return s;
}

int StandbyOf(const Scenario& s) {
  const Topology topology(s.capture);
  int count = 0;
  for (const WorkerInfo& worker : topology.workers()) count += worker.standby ? 1 : 0;
  return count;
}

void LearnWithoutSlice2(Scenario& s) {
  std::erase_if(s.capture.header.cohorts.front().workers,
                [](const WorkerId& id) { return id.slice == 2; });
}

TEST(Standby, WhoLaunchedNothingAndIsInNoCohort) {
  Scenario s = WithIdleSlice(kStillMs);
  LearnWithoutSlice2(s);
  EXPECT_EQ(StandbyOf(s), 4);
}

TEST(Standby, NotWhoIsInNoCohortButHasLaunchedSomething) {
  Scenario s({.slices = 3});
  LearnWithoutSlice2(s);
  EXPECT_EQ(StandbyOf(s), 0);
}

TEST(Standby, NotAnIdleSliceOfTheCohort) { EXPECT_EQ(StandbyOf(WithIdleSlice(kStillMs)), 0); }

TEST(Standby, WithoutCohortsASliceIdleForMuchLongerThanAnyoneElseStands) {
  Scenario s = WithIdleSlice(60 * kStillMs);
  s.capture.header.cohorts.clear();
  EXPECT_EQ(StandbyOf(s), 4);
}

TEST(Standby, WithoutCohortsNotASliceIdleForAboutAsLong) {
  Scenario s = WithIdleSlice(kStillMs + 30'000);
  s.capture.header.cohorts.clear();
  EXPECT_EQ(StandbyOf(s), 0);
}

TEST(Standby, NobodyWhereNobodyRanAnything) {
  Scenario s = WithIdleSlice(60 * kStillMs);
  s.capture.header.cohorts.clear();
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.programs.clear();
    snapshot.cores = s.At(2, 0).cores;
  }
  EXPECT_EQ(StandbyOf(s), 0);
}

TEST(Standby, IsNeverACulprit) {
  Scenario s = WithIdleSlice(60 * kStillMs);
  LearnWithoutSlice2(s);
  Process exited;
  exited.state = ProcessState::kExited;
  exited.exit_code = 1;
  exited.exited_ms_ago = kStillMs + 1000;
  s.At(2, 1).processes = {exited};
  s.MakeIdle(0, 1);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

}  // namespace
}  // namespace rapideye::classifier::testing

#include "coordinator/core/learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Ran {
  std::string fingerprint;
  int64_t completed = 0;
  absl::Duration longest = absl::Seconds(1);
};

wire::Heartbeat After(const std::vector<Ran>& programs,
                      const std::vector<wire::QueueEntry>& queue = {}) {
  wire::Heartbeat heartbeat;
  for (const Ran& ran : programs) {
    heartbeat.programs.push_back({std::nullopt, ran.fingerprint, ran.completed, ran.longest});
  }
  heartbeat.queue = queue;
  return heartbeat;
}

std::vector<WorkerId> Workers(int slices, int tasks) {
  std::vector<WorkerId> workers;
  for (int slice = 0; slice < slices; ++slice) {
    for (int task = 0; task < tasks; ++task) workers.push_back({slice, task});
  }
  return workers;
}

TEST(Learning, NothingLearntMeansNoCohorts) {
  EXPECT_THAT(Learning().Cohorts(Workers(1, 4)), IsEmpty());
}

TEST(Learning, WorkersThatRanTheSameAreOneCohort) {
  Learning learning;
  for (const WorkerId& worker : Workers(2, 2)) {
    learning.Observe(worker, After({{"aa", 10}, {"bb", 10}}), true);
  }
  const std::vector<Cohort> cohorts = learning.Cohorts(Workers(2, 2));
  ASSERT_THAT(cohorts, SizeIs(1));
  EXPECT_EQ(cohorts[0].name, "all");
  EXPECT_THAT(cohorts[0].workers, SizeIs(4));
}

TEST(Learning, PipelineStagesAreCohortsOfTheirOwn) {
  Learning learning;
  for (const WorkerId& worker : Workers(2, 3)) {
    learning.Observe(worker, After({{worker.slice == 0 ? "aa" : "bb", 10}, {"cc", 10}}), true);
  }
  const std::vector<Cohort> cohorts = learning.Cohorts(Workers(2, 3));
  ASSERT_THAT(cohorts, SizeIs(2));
  EXPECT_EQ(cohorts[0].workers.front(), (WorkerId{0, 0}));
  EXPECT_EQ(cohorts[1].workers.front(), (WorkerId{1, 0}));
}

TEST(Learning, WhatOneWorkerRunsBesidesDoesNotSetItApart) {
  Learning learning;
  for (const WorkerId& worker : Workers(1, 4)) {
    std::vector<Ran> ran = {{"aa", 100}};
    if (worker.task == 0) ran.push_back({"0b", 50});  // metrics of the first host
    if (worker.task == 3) ran.push_back({"0c", 1});
    learning.Observe(worker, After(ran), true);
  }
  EXPECT_THAT(learning.Cohorts(Workers(1, 4)), SizeIs(1));
}

TEST(Learning, WorkerSeenToRunNothingBelongsWhereItsSliceDoes) {
  Learning learning;
  for (const WorkerId& worker : Workers(2, 3)) {
    if (worker == WorkerId{1, 2}) continue;
    learning.Observe(worker, After({{worker.slice == 0 ? "aa" : "bb", 10}}), true);
  }
  const std::vector<Cohort> cohorts = learning.Cohorts(Workers(2, 3));
  ASSERT_THAT(cohorts, SizeIs(2));
  EXPECT_THAT(cohorts[1].workers, ElementsAre(WorkerId{1, 0}, WorkerId{1, 1}, WorkerId{1, 2}));
}

TEST(Learning, SliceThatNeverRanAnythingStandsByOnceTheJobIsLongAtWork) {
  for (const int64_t completed : {kStandbyAfter - 1, kStandbyAfter}) {
    Learning learning;
    for (const WorkerId& worker : Workers(3, 2)) {
      learning.Observe(worker, worker.slice == 2 ? After({}) : After({{"aa", completed}}), true);
    }
    const std::vector<Cohort> cohorts = learning.Cohorts(Workers(3, 2));
    ASSERT_THAT(cohorts, SizeIs(1));
    // Below kStandbyAfter launches the slice may just be late.
    EXPECT_THAT(cohorts[0].workers, SizeIs(completed < kStandbyAfter ? 6 : 4));
  }
}

TEST(Learning, SliceThatWasNeverHeardIsNotSaidToStandBy) {
  Learning learning;
  for (const WorkerId& worker : Workers(1, 2)) {
    learning.Observe(worker, After({{"aa", kStandbyAfter}}), true);
  }
  EXPECT_THAT(learning.Cohorts(Workers(2, 2))[0].workers, SizeIs(4));
}

TEST(Learning, SequenceAcrossTwoProgramsComesFromTheQueues) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 10}, {"bb", 10}}, {{"aa", 5}, {"bb", 17}}), true);
  EXPECT_THAT(learning.Cohorts({{0, 0}})[0].sequence, IsEmpty());
  learning.Observe({0, 0}, After({{"aa", 11}, {"bb", 10}}, {{"bb", 17}, {"aa", 6}}), true);
  learning.ObserveModules({{.module = "jit_step", .fingerprint = "aa"}});
  const std::vector<SequenceEntry> sequence = learning.Cohorts({{0, 0}})[0].sequence;
  ASSERT_THAT(sequence, SizeIs(2));
  EXPECT_EQ(sequence[0].fingerprint, "aa");
  EXPECT_EQ(sequence[0].module, "jit_step");
  EXPECT_EQ(sequence[0].launch_id, 6);
  EXPECT_EQ(sequence[1].fingerprint, "bb");
  EXPECT_EQ(sequence[1].launch_id, 18);
}

TEST(Learning, QueueOfAWorkerThatStandsStillTeachesNothing) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 10}}, {{"aa", 5}, {"aa", 6}}), true);
  learning.Observe({0, 0}, After({{"aa", 10}}, {{"aa", 7}, {"bb", 1}}), false);
  ASSERT_THAT(learning.Cohorts({{0, 0}})[0].sequence, SizeIs(1));
  EXPECT_EQ(learning.Cohorts({{0, 0}})[0].sequence[0].launch_id, 6);
}

TEST(Learning, OrderIsWhatMostWorkersShow) {
  Learning learning;
  const std::vector<Ran> ran = {{"aa", 10}, {"bb", 10}, {"cc", 10}};
  for (int task = 0; task < 3; ++task) {
    const bool odd = task == 0;
    learning.Observe(
        {0, task},
        After(ran, odd ? std::vector<wire::QueueEntry>{{"aa", 1}, {"cc", 1}, {"bb", 1}, {"aa", 2}}
                       : std::vector<wire::QueueEntry>{{"aa", 1}, {"bb", 1}, {"cc", 1}, {"aa", 2}}),
        true);
  }
  const std::vector<SequenceEntry> sequence = learning.Cohorts(Workers(1, 3))[0].sequence;
  ASSERT_THAT(sequence, SizeIs(3));
  EXPECT_EQ(sequence[1].fingerprint, "bb");
}

TEST(Learning, AWorkerThatIsHalfwayIntoANewPhaseIsNoCohortOfItsOwn) {
  Learning learning;
  for (const WorkerId& worker : Workers(2, 2)) {
    learning.Observe(worker, After({{"train", 500}}), true);
  }
  learning.Observe({0, 1}, After({{"train", 500}, {"eval", 3}}), true);
  EXPECT_THAT(learning.Cohorts(Workers(2, 2)), SizeIs(1));
}

TEST(Learning, APhaseThatLastsReplacesTheOneBefore) {
  Learning learning;
  const std::vector<wire::QueueEntry> queue = {{"eval", 7}, {"eval", 8}, {"eval", 9}};
  for (const WorkerId& worker : Workers(2, 2)) {
    learning.Observe(worker, After({{"train", 100'000}}), true);
    for (int64_t done = 100; done <= 10'000; done += 100) {
      learning.Observe(worker, After({{"train", 100'000}, {"eval", done}}, queue), true);
    }
  }
  // A worker that joins, and only ever evaluates, belongs to the same cohort.
  learning.Observe({2, 0}, After({{"eval", 50}}), true);
  std::vector<WorkerId> members = Workers(2, 2);
  members.push_back({2, 0});
  const std::vector<Cohort> cohorts = learning.Cohorts(members);
  ASSERT_THAT(cohorts, SizeIs(1));
  EXPECT_THAT(cohorts[0].workers, SizeIs(5));
  ASSERT_THAT(cohorts[0].sequence, SizeIs(1));
  EXPECT_EQ(cohorts[0].sequence[0].fingerprint, "eval");
}

TEST(Learning, AShortPhaseLeavesTheOrderOfTheLongOne) {
  Learning learning;
  learning.Observe({0, 0}, After({{"train", 5000}}, {{"train", 7}, {"train", 8}, {"train", 9}}),
                   true);
  learning.Observe({0, 0}, After({{"train", 5000}, {"eval", 2}}), true);
  const std::vector<Cohort> cohorts = learning.Cohorts({{0, 0}});
  ASSERT_THAT(cohorts, SizeIs(1));
  ASSERT_THAT(cohorts[0].sequence, SizeIs(1));
  EXPECT_EQ(cohorts[0].sequence[0].fingerprint, "train");
}

TEST(Learning, AnAgentThatRestartsCountsAnew) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 900}, {"bb", 900}}), true);
  learning.Observe({0, 0}, After({{"aa", 5}}), true);
  learning.Observe({0, 1}, After({{"aa", 900}, {"bb", 900}}), true);
  EXPECT_THAT(learning.Cohorts(Workers(1, 2)), SizeIs(1));
}

TEST(Learning, AJobThatResumesFromACheckpointOwesNothingToItsPast) {
  Learning learning;
  for (const WorkerId& worker : Workers(2, 1)) {
    learning.Observe(worker, After({{worker.slice == 0 ? "aa" : "bb", 900}}), true);
  }
  EXPECT_THAT(learning.Cohorts(Workers(2, 1)), SizeIs(2));
  learning.Forget();  // another incarnation
  EXPECT_THAT(learning.Cohorts(Workers(2, 1)), IsEmpty());
  // The same fingerprints, counted from anywhere, in another arrangement.
  for (const WorkerId& worker : Workers(2, 1)) {
    learning.Observe(worker, After({{"bb", 3}}), true);
  }
  EXPECT_THAT(learning.Cohorts(Workers(2, 1)), SizeIs(1));
}

TEST(Learning, WorkersThatLeftAreInNoCohort) {
  Learning learning;
  for (const WorkerId& worker : Workers(3, 2)) {
    learning.Observe(worker, After({{worker.slice == 2 ? "bb" : "aa", 10}}), true);
  }
  EXPECT_THAT(learning.Cohorts(Workers(3, 2)), SizeIs(2));
  const std::vector<Cohort> cohorts = learning.Cohorts(Workers(2, 2));
  ASSERT_THAT(cohorts, SizeIs(1));
  EXPECT_THAT(cohorts[0].workers, SizeIs(4));
}

TEST(Learning, LongestLaunchPerProgram) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 10, absl::Seconds(3)}, {"bb", 10, absl::Seconds(1)}}),
                   true);
  EXPECT_EQ(learning.LongestLaunch("aa"), absl::Seconds(3));
  EXPECT_EQ(learning.LongestLaunch("bb"), absl::Seconds(1));
  EXPECT_EQ(learning.LongestLaunch(std::nullopt), absl::Seconds(3));
  EXPECT_TRUE(learning.HasCompleted("aa"));
  EXPECT_FALSE(learning.HasCompleted("dd"));
}

TEST(Learning, LaunchThatWasTheHangIsNotHealthy) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 10, absl::Seconds(3)}}), true);
  learning.AfterIncident();
  learning.Observe({0, 0}, After({{"aa", 11, absl::Seconds(40)}}), true);
  learning.Observe({0, 0}, After({{"aa", 12, absl::Seconds(40)}}), true);
  EXPECT_EQ(learning.LongestLaunch("aa"), absl::Seconds(3));
  // After that a longer launch counts like any other.
  learning.Observe({0, 0}, After({{"aa", 13, absl::Seconds(41)}}), true);
  EXPECT_EQ(learning.LongestLaunch("aa"), absl::Seconds(41));
}

TEST(Learning, PauseThatWasTheHangIsNotHealthyAndNoneIsBelievedWithoutBound) {
  Learning learning;
  wire::Heartbeat heartbeat = After({{"aa", 10}});
  heartbeat.longest_pause = absl::Seconds(30);
  learning.Observe({0, 0}, heartbeat, true);
  learning.AfterIncident();
  heartbeat.longest_pause = absl::Minutes(10);
  learning.Observe({0, 0}, heartbeat, true);
  EXPECT_EQ(learning.LongestPause(), absl::Seconds(30));
  heartbeat.longest_pause = absl::Hours(1000);
  learning.Observe({0, 0}, heartbeat, true);
  EXPECT_EQ(learning.LongestPause(), kMaxLearntPause);
}

TEST(Learning, ForgetsEverythingButNames) {
  Learning learning;
  learning.Observe({0, 0}, After({{"aa", 10}}, {{"aa", 5}, {"aa", 6}}), true);
  learning.ObserveModules({{.module = "jit_step", .fingerprint = "aa"}});
  learning.Forget();
  EXPECT_THAT(learning.Cohorts({{0, 0}}), IsEmpty());
  EXPECT_FALSE(learning.HasCompleted("aa"));
  EXPECT_EQ(learning.LongestLaunch("aa"), absl::ZeroDuration());
  EXPECT_EQ(learning.ModuleOf("aa"), "jit_step");
}

TEST(Learning, ProgramsBeyondTheLimitAreIgnored) {
  Learning learning;
  for (size_t i = 0; i <= kMaxPrograms; ++i) {
    learning.Observe({0, 0}, After({{"f" + std::to_string(i), 1}}), false);
  }
  EXPECT_TRUE(learning.HasCompleted("f0"));
  EXPECT_FALSE(learning.HasCompleted("f" + std::to_string(kMaxPrograms)));
}

TEST(LearntPausesTest, RestoredOnesMakeNothingShorterAndAreBounded) {
  Learning learning;
  learning.ObserveStep({0, 0}, absl::Seconds(7));
  learning.Restore({.step = absl::Seconds(3),
                    .step_lines = absl::Seconds(20),
                    .pause = absl::Seconds(30),
                    .unannounced_pause = absl::Seconds(40),
                    .compile = absl::Seconds(50),
                    .checkpoint = 2 * kMaxLearntPause,
                    .eval = absl::Seconds(60)});
  EXPECT_EQ(learning.Pauses(), (LearntPauses{.step = absl::Seconds(7),
                                             .step_lines = absl::Seconds(20),
                                             .pause = absl::Seconds(30),
                                             .unannounced_pause = absl::Seconds(40),
                                             .compile = absl::Seconds(50),
                                             .checkpoint = kMaxLearntPause,
                                             .eval = absl::Seconds(60)}));
  learning.Forget();
  EXPECT_EQ(learning.Pauses(), LearntPauses{});
}

}  // namespace
}  // namespace rapideye::coordinator

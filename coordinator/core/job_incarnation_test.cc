#include "coordinator/core/job_incarnation.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::coordinator {
namespace {

constexpr bool kGiven = true;
constexpr bool kDerived = false;

JobIncarnation FourWorkers(const std::string& key, bool given) {
  JobIncarnation incarnation;
  for (int task = 0; task < 4; ++task) EXPECT_FALSE(incarnation.Observe({0, task}, key, given));
  return incarnation;
}

TEST(JobIncarnation, UnknownUntilSomebodyShowsAKey) {
  EXPECT_EQ(JobIncarnation().Id(), std::nullopt);
}

TEST(JobIncarnation, GivenIsTakenAsItIs) { EXPECT_EQ(FourWorkers("3", kGiven).Id(), "3"); }

TEST(JobIncarnation, DerivedDependsOnTheProcessesAndNotOnTheOrder) {
  JobIncarnation forwards;
  JobIncarnation backwards;
  for (int i = 0; i < 4; ++i) {
    forwards.Observe({0, i}, "p" + std::to_string(i), kDerived);
    backwards.Observe({0, 3 - i}, "p" + std::to_string(3 - i), kDerived);
  }
  EXPECT_EQ(forwards.Id(), backwards.Id());
  EXPECT_NE(forwards.Id(), FourWorkers("q", kDerived).Id());
}

TEST(JobIncarnation, OneRestartedProcessIsNoRestartOfTheJob) {
  JobIncarnation incarnation = FourWorkers("p", kDerived);
  EXPECT_FALSE(incarnation.Observe({0, 2}, "q", kDerived));
  EXPECT_FALSE(incarnation.Left({0, 0}));
}

TEST(JobIncarnation, MostProcessesRestartedIsOneRestart) {
  JobIncarnation incarnation = FourWorkers("p", kDerived);
  const std::optional<std::string> before = incarnation.Id();
  EXPECT_FALSE(incarnation.Observe({0, 0}, "q", kDerived));
  EXPECT_FALSE(incarnation.Observe({0, 1}, "q", kDerived));
  EXPECT_TRUE(incarnation.Observe({0, 2}, "q", kDerived));
  EXPECT_TRUE(incarnation.Left({0, 3}));
  EXPECT_NE(incarnation.Id(), before);
  // The last worker follows; the job has not restarted again.
  EXPECT_FALSE(incarnation.Observe({0, 3}, "p", kDerived));
  EXPECT_FALSE(incarnation.Observe({0, 3}, "q", kDerived));
  EXPECT_FALSE(incarnation.Left({0, 3}));
}

TEST(JobIncarnation, SecondRestartIsNoticed) {
  JobIncarnation incarnation = FourWorkers("p", kGiven);
  for (int task = 0; task < 4; ++task) incarnation.Observe({0, task}, "q", kGiven);
  EXPECT_FALSE(incarnation.Observe({0, 0}, "r", kGiven));
  EXPECT_FALSE(incarnation.Observe({0, 1}, "r", kGiven));
  EXPECT_TRUE(incarnation.Observe({0, 2}, "r", kGiven));
  EXPECT_EQ(incarnation.Id(), "r");
}

TEST(JobIncarnation, WorkerThatGoesOnIsCalledBack) {
  JobIncarnation incarnation = FourWorkers("p", kDerived);
  for (int task = 0; task < 3; ++task) incarnation.Observe({0, task}, "q", kDerived);
  ASSERT_TRUE(incarnation.Left({0, 3}));
  incarnation.Rejoin({0, 3});
  EXPECT_FALSE(incarnation.Left({0, 3}));
}

TEST(StableHash, IsTheSameEverywhere) {
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8cULL);
}

// The invented workers all show another process, again and again.
TEST(JobIncarnation, AsManyWorkersAsOneHostConnectsRestartNoJob) {
  constexpr int kGhosts = 40;
  HostVotes hosts;
  JobIncarnation job;
  for (int task = 0; task < 4; ++task) {
    hosts.Join({0, task}, "10.0.1." + std::to_string(task));
    job.Observe({0, task}, "a", /*given=*/false, hosts);
  }
  for (int task = 0; task < kGhosts; ++task) {
    hosts.Join({1, task}, "10.0.0.66");
    job.Observe({1, task}, "a", /*given=*/false, hosts);
  }
  for (int task = 0; task < kGhosts; ++task) {
    EXPECT_FALSE(job.Observe({1, task}, "b", /*given=*/false, hosts));
  }
  // Now most hosts have restarted, too.
  EXPECT_FALSE(job.Observe({0, 0}, "b", /*given=*/false, hosts));
  EXPECT_TRUE(job.Observe({0, 1}, "b", /*given=*/false, hosts));
}

}  // namespace
}  // namespace rapideye::coordinator

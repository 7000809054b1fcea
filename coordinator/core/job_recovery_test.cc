#include "coordinator/core/job_recovery.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::coordinator {
namespace {

constexpr absl::Duration kEnd = absl::Hours(1);

TEST(JobRecovery, CountsLaunchesThatCompleteAfterTheIncident) {
  JobRecovery recovery(kEnd);
  EXPECT_FALSE(recovery.Observe({0, 0}, std::nullopt));
  EXPECT_FALSE(recovery.Observe({0, 0}, kEnd - absl::Milliseconds(1)));
  EXPECT_FALSE(recovery.Recovered({0, 0}));
  EXPECT_TRUE(recovery.Observe({0, 0}, kEnd));
  EXPECT_TRUE(recovery.Recovered({0, 0}));
}

TEST(JobRecovery, MostAreMoreThanHalfOfThoseThatRun) {
  JobRecovery recovery(kEnd);
  recovery.Observe({0, 0}, kEnd);
  recovery.Observe({0, 0}, kEnd);
  EXPECT_FALSE(recovery.MostRecovered(2, HostVotes()));
  recovery.Observe({0, 1}, kEnd);
  EXPECT_TRUE(recovery.MostRecovered(2, HostVotes()));
}

// Any number of workers that one host connects, and that never recover, do not prolong the watch.
TEST(JobRecovery, MostAreCountedByHosts) {
  constexpr int kHonest = 3;
  constexpr int kGhosts = 40;
  JobRecovery recovery(kEnd);
  HostVotes hosts;
  for (int task = 0; task < kHonest; ++task) {
    hosts.Join({0, task}, "10.0.1." + std::to_string(task));
    recovery.Observe({0, task}, kEnd);
  }
  for (int task = 0; task < kGhosts; ++task) hosts.Join({1, task}, "10.0.0.66");
  EXPECT_TRUE(recovery.MostRecovered(hosts.All(), hosts));
  EXPECT_FALSE(recovery.MostRecovered(kHonest + kGhosts, HostVotes()));
}

TEST(JobRecovery, OfNoIncidentNobodyRecovers) {
  JobRecovery recovery;
  EXPECT_FALSE(recovery.Observe({0, 0}, kEnd));
}

TEST(JobRecovery, IsAboutTheJobThatMostWorkersShowed) {
  JobIncarnation job;
  for (const int task : {0, 1, 2}) job.Observe({0, task}, "a", /*given=*/true);
  EXPECT_TRUE(JobRecovery(kEnd, {{{0, 0}, "a"}, {{0, 1}, "a"}, {{0, 2}, "b"}}).IsAbout(job));
  EXPECT_FALSE(JobRecovery(kEnd, {{{0, 0}, "a"}, {{0, 1}, "b"}}).IsAbout(job));
  EXPECT_FALSE(JobRecovery(kEnd).IsAbout(job));
  // A worker without a known key does not count.
  EXPECT_TRUE(JobRecovery(kEnd, {{{0, 0}, "a"}, {{1, 0}, "b"}}).IsAbout(job));
}

}  // namespace
}  // namespace rapideye::coordinator

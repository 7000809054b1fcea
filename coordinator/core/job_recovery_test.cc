#include "coordinator/core/job_recovery.h"

#include <gtest/gtest.h>

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
  EXPECT_FALSE(recovery.MostRecovered(2));
  recovery.Observe({0, 1}, kEnd);
  EXPECT_TRUE(recovery.MostRecovered(2));
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
  // A worker of which nothing is known now says nothing.
  EXPECT_TRUE(JobRecovery(kEnd, {{{0, 0}, "a"}, {{1, 0}, "b"}}).IsAbout(job));
}

}  // namespace
}  // namespace rapideye::coordinator

// Workers that leave on purpose, are replaced, or join later: the shape is the job's latest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::SizeIs;

// Two slices of two workers, which advance.
class ElasticTest : public ::testing::Test {
 protected:
  ElasticTest() : job_(Quick(), 2, 2) { job_.Run(absl::Seconds(10)); }

  void Leave(int slice, int task, bool on_purpose) {
    FakeAgent& agent = job_.at(slice, task);
    if (on_purpose) job_.Say(agent, wire::Leaving{.process_incarnation = agent.process});
    agent.advancing = false;
    job_.Disconnect(agent);
  }
  size_t Expected() { return job_.core().membership().Expected().size(); }
  // With the others standing still: the workers that the capture expects.
  std::vector<ExpectedWorker> ExpectedInAHang() {
    job_.Freeze();
    EXPECT_TRUE(job_.RunUntilConclude(absl::Minutes(1)));
    return job_.concluded().back().capture.header.expected_workers;
  }

  FakeJob job_;
};

TEST_F(ElasticTest, AWorkerThatLeftOnPurposeIsNotMissedIfTheJobGoesOn) {
  Leave(1, 1, /*on_purpose=*/true);
  EXPECT_EQ(Expected(), 4U);
  job_.Run(2 * kGoesOnWithout + absl::Seconds(10));
  EXPECT_EQ(Expected(), 3U);
  EXPECT_TRUE(job_.Logged("goes on without it"));
  EXPECT_THAT(ExpectedInAHang(), SizeIs(3));
}

TEST_F(ElasticTest, IfTheOthersStandStillItIsMissed) {
  Leave(1, 1, /*on_purpose=*/true);
  EXPECT_THAT(ExpectedInAHang(), SizeIs(4));
}

TEST_F(ElasticTest, AWorkerThatOnlyVanishedStaysExpected) {
  Leave(1, 1, /*on_purpose=*/false);
  job_.Run(10 * kGoesOnWithout);
  EXPECT_EQ(Expected(), 4U);
}

TEST_F(ElasticTest, AWholeSliceThatIsGoneIsNotMissedIfTheJobGoesOn) {
  Leave(1, 0, /*on_purpose=*/false);
  Leave(1, 1, /*on_purpose=*/false);
  job_.Run(2 * kGoesOnWithout + absl::Seconds(10));
  EXPECT_EQ(Expected(), 2U);
}

TEST_F(ElasticTest, ASliceThatIsLostWhileTheOthersStandStillIsMissed) {
  Leave(1, 0, /*on_purpose=*/false);
  Leave(1, 1, /*on_purpose=*/false);
  EXPECT_THAT(ExpectedInAHang(), SizeIs(4));
}

TEST_F(ElasticTest, WhoComesBackIsExpectedAgain) {
  Leave(1, 0, /*on_purpose=*/false);
  Leave(1, 1, /*on_purpose=*/false);
  job_.Run(2 * kGoesOnWithout + absl::Seconds(10));
  ASSERT_EQ(Expected(), 2U);
  for (int task = 0; task < 2; ++task) {
    FakeAgent& agent = job_.at(1, task);
    ++agent.hello.agent_incarnation;
    agent.hello.host = "replacement";
    agent.process = "p2";
    agent.advancing = true;
    job_.Connect(agent);
  }
  job_.Run(absl::Seconds(10));
  EXPECT_EQ(Expected(), 4U);
  EXPECT_TRUE(job_.core().membership().Complete());
  EXPECT_EQ(job_.core().counters().incidents, 0);
}

// A job that is restarted with fewer slices says so in every Hello.
TEST_F(ElasticTest, TheShapeIsWhatTheJobSaysNow) {
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 2; ++task) job_.Disconnect(job_.at(slice, task));
  }
  for (int task = 0; task < 2; ++task) {
    FakeAgent& agent = job_.at(0, task);
    ++agent.hello.agent_incarnation;
    agent.hello.slices = 1;
    agent.hello.tasks_per_slice = 2;
    agent.process = "p2";
    job_.Connect(agent);
  }
  job_.Run(absl::Seconds(5));
  EXPECT_EQ(Expected(), 2U);
  EXPECT_THAT(ExpectedInAHang(), SizeIs(2));
}

TEST_F(ElasticTest, ASliceThatJoinsLaterIsExpectedFromThenOn) {
  for (int task = 0; task < 2; ++task) {
    FakeAgent& agent = job_.Add({2, task});
    agent.hello.slices = 3;
    agent.hello.tasks_per_slice = 2;
    job_.Connect(agent);
  }
  job_.Run(absl::Seconds(10));
  EXPECT_EQ(Expected(), 6U);
  EXPECT_EQ(job_.core().counters().incidents, 0);
}

}  // namespace
}  // namespace rapideye::coordinator

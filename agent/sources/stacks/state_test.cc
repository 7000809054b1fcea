#include "agent/sources/stacks/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class StackMemoryTest : public testing::Test {
 protected:
  std::vector<Stack> stacks() const {
    Snapshot snapshot;
    memory_.Describe(snapshot);
    return snapshot.stacks;
  }

  StackMemory memory_;
  absl::Duration now_ = absl::Hours(1);
  const StackReading reading_ = {{{"MainThread", {"train.py:1 main"}}}, ""};
};

TEST_F(StackMemoryTest, AreAskedForOncePerIncident) {
  EXPECT_FALSE(memory_.Ask(now_));
  memory_.Collected("a", now_);
  EXPECT_TRUE(memory_.Ask(now_));
  EXPECT_FALSE(memory_.Ask(now_));
  memory_.Collected("a", now_);
  EXPECT_FALSE(memory_.Ask(now_));
  memory_.Observe(reading_);
  EXPECT_THAT(stacks(), SizeIs(1));
  memory_.Collected("a", now_);
  EXPECT_FALSE(memory_.Ask(now_));
  EXPECT_THAT(stacks(), SizeIs(1));
}

TEST_F(StackMemoryTest, ManyIncidentsInARowHoldUpNobody) {
  memory_.Collected("a", now_);
  EXPECT_TRUE(memory_.Ask(now_));
  memory_.Collected("b", now_ + kStackSpacing - absl::Seconds(1));
  EXPECT_FALSE(memory_.Ask(now_ + kStackSpacing - absl::Seconds(1)));
  memory_.Collected("c", now_ + kStackSpacing);
  EXPECT_TRUE(memory_.Ask(now_ + kStackSpacing));
}

TEST_F(StackMemoryTest, OnlyALaterLookWaitsAndNotForLong) {
  memory_.Collected("a", now_);
  EXPECT_TRUE(memory_.Ask(now_));
  EXPECT_FALSE(memory_.WorthWaiting(now_));
  memory_.Collected("a", now_);
  EXPECT_TRUE(memory_.WorthWaiting(now_));
  EXPECT_FALSE(memory_.WorthWaiting(memory_.wait_until()));
  memory_.Observe(reading_);
  EXPECT_FALSE(memory_.WorthWaiting(now_));
}

TEST_F(StackMemoryTest, ProgressMakesThemOld) {
  memory_.Collected("a", now_);
  EXPECT_TRUE(memory_.Ask(now_));
  memory_.Forget();
  memory_.Observe(reading_);
  EXPECT_THAT(stacks(), IsEmpty());

  memory_.Collected("b", now_ + absl::Hours(1));
  EXPECT_TRUE(memory_.Ask(now_ + absl::Hours(1)));
  memory_.Observe(reading_);
  memory_.Forget();
  EXPECT_THAT(stacks(), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

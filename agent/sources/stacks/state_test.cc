#include "agent/sources/stacks/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class StacksStateTest : public testing::Test {
 protected:
  std::vector<Stack> stacks() const {
    Snapshot snapshot;
    state_.AddTo(snapshot, {});
    return snapshot.stacks;
  }

  StacksState state_;
  Notices notices_;
  absl::Duration now_ = absl::Hours(1);
  const StackReading reading_ = {{{"MainThread", {"train.py:1 main"}}}, ""};
};

TEST_F(StacksStateTest, AreAskedForOncePerIncident) {
  EXPECT_FALSE(state_.Ask(now_));
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.Ask(now_));
  EXPECT_FALSE(state_.Ask(now_));
  state_.Collected("a", now_);
  EXPECT_FALSE(state_.Ask(now_));
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(stacks(), SizeIs(1));
  state_.Collected("a", now_);
  EXPECT_FALSE(state_.Ask(now_));
  EXPECT_THAT(stacks(), SizeIs(1));
}

TEST_F(StacksStateTest, ManyIncidentsInARowHoldUpNobody) {
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.Ask(now_));
  state_.Collected("b", now_ + kStackSpacing - absl::Seconds(1));
  EXPECT_FALSE(state_.Ask(now_ + kStackSpacing - absl::Seconds(1)));
  state_.Collected("c", now_ + kStackSpacing);
  EXPECT_TRUE(state_.Ask(now_ + kStackSpacing));
}

TEST_F(StacksStateTest, OnlyALaterLookWaitsAndNotForLong) {
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.Ask(now_));
  EXPECT_FALSE(state_.WorthWaiting(now_));
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.WorthWaiting(now_));
  EXPECT_FALSE(state_.WorthWaiting(state_.wait_until()));
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_FALSE(state_.WorthWaiting(now_));
}

TEST_F(StacksStateTest, ProgressMakesThemOld) {
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.Ask(now_));
  state_.JobProgressed();
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(stacks(), IsEmpty());

  state_.Collected("b", now_ + absl::Hours(1));
  EXPECT_TRUE(state_.Ask(now_ + absl::Hours(1)));
  state_.Observe(reading_, {}, now_, notices_);
  state_.JobProgressed();
  EXPECT_THAT(stacks(), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

#include "agent/sources/stacks/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

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
  const StackReading reading_ = {{{"MainThread", {"main (train.py:1)"}}}, "no eu-stack"};

  StackLook Ask(absl::Duration after = {}) {
    return state_.Ask(StackLook::kStopping, now_ + after);
  }
};

TEST_F(StacksStateTest, AreAskedForOncePerIncident) {
  EXPECT_EQ(Ask(), StackLook::kNone);
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  EXPECT_EQ(Ask(), StackLook::kNone);
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kNone);
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(stacks(), SizeIs(1));
  state_.Collected("a", now_ + kStackSpacing - absl::Seconds(1));
  EXPECT_EQ(Ask(kStackSpacing - absl::Seconds(1)), StackLook::kNone);
  EXPECT_THAT(stacks(), SizeIs(1));
  Snapshot snapshot;
  state_.AddTo(snapshot, {});
  EXPECT_EQ(snapshot.stacks_missing, "no eu-stack");
}

TEST_F(StacksStateTest, WhereNoneWereTakenThoseOfTheLogStay) {
  const std::vector<Stack> logged = {{"MainThread", {"read (train.py:88)"}}};
  Snapshot snapshot;
  snapshot.stacks = logged;
  state_.AddTo(snapshot, {});
  EXPECT_EQ(snapshot.stacks, logged);
  state_.Collected("a", now_);
  Ask();
  state_.Observe({{{"child 9 (python): MainThread", {"put (queues.py:89)"}}}, ""}, {}, now_,
                 notices_);
  state_.AddTo(snapshot, {});
  EXPECT_EQ(snapshot.stacks, logged);  // the process had gone
  state_.Collected("b", now_ + kStackSpacing);
  Ask(kStackSpacing);
  state_.Observe(reading_, {}, now_ + kStackSpacing, notices_);
  state_.AddTo(snapshot, {});
  EXPECT_EQ(snapshot.stacks, reading_.stacks);
}

// The coordinator looks again at a job that still stands: where it stands may be another place.
TEST_F(StacksStateTest, MinutesLaterTheSameIncidentIsAskedAboutAnew) {
  state_.Collected("a", now_);
  Ask();
  state_.Observe(reading_, {}, now_, notices_);
  state_.Collected("a", now_ + kStackSpacing);
  EXPECT_FALSE(state_.WorthWaiting(now_ + kStackSpacing));
  EXPECT_EQ(Ask(kStackSpacing), StackLook::kStopping);
  state_.Collected("a", now_ + kStackSpacing + absl::Seconds(1));  // the second round
  EXPECT_TRUE(state_.WorthWaiting(now_ + kStackSpacing + absl::Seconds(1)));
  EXPECT_EQ(Ask(kStackSpacing + absl::Seconds(1)), StackLook::kNone);
}

TEST_F(StacksStateTest, WhoeverAdvancesIsReadOnly) {
  state_.Collected("a", now_);
  EXPECT_EQ(state_.Ask(StackLook::kReading, now_), StackLook::kReading);
}

TEST_F(StacksStateTest, ASnapshotForAnOperatorStopsNobody) {
  state_.Collected(std::nullopt, now_);
  EXPECT_EQ(Ask(), StackLook::kReading);
  state_.Collected(std::nullopt, now_ + absl::Seconds(1));  // its second look
  EXPECT_EQ(Ask(absl::Seconds(1)), StackLook::kNone);
  EXPECT_TRUE(state_.WorthWaiting(now_ + absl::Seconds(1)));
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(stacks(), SizeIs(1));
  state_.Collected(std::nullopt, now_ + kStackReadSpacing);
  EXPECT_EQ(Ask(kStackReadSpacing), StackLook::kReading);
}

TEST_F(StacksStateTest, AnIncidentWaitsForWhatAnOperatorHasBegun) {
  state_.Collected(std::nullopt, now_);
  EXPECT_EQ(Ask(), StackLook::kReading);
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kNone);
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
}

TEST_F(StacksStateTest, ManyIncidentsInARowHoldUpNobody) {
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  state_.Observe(reading_, {}, now_, notices_);
  state_.Collected("b", now_ + absl::Seconds(1));
  EXPECT_EQ(Ask(absl::Seconds(1)), StackLook::kNone);
  const absl::Duration soon = kStackSpacing - absl::Seconds(1);
  state_.Collected("c", now_ + soon);
  EXPECT_EQ(Ask(soon), StackLook::kReading);
  state_.Observe(reading_, {}, now_ + soon, notices_);
  state_.Collected("d", now_ + kStackSpacing);
  EXPECT_EQ(Ask(kStackSpacing), StackLook::kStopping);
}

TEST_F(StacksStateTest, OnlyALaterLookWaitsAndNotForLong) {
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  EXPECT_FALSE(state_.WorthWaiting(now_));
  state_.Collected("a", now_);
  EXPECT_TRUE(state_.WorthWaiting(now_));
  EXPECT_FALSE(state_.WorthWaiting(state_.wait_until()));
  StackReading part = reading_;
  part.complete = false;
  state_.Observe(part, {}, now_, notices_);
  EXPECT_THAT(stacks(), SizeIs(1));
  EXPECT_TRUE(state_.WorthWaiting(now_));
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_FALSE(state_.WorthWaiting(now_));
}

// A digest must be able to tell stacks that came too late from those of a host that has none.
TEST_F(StacksStateTest, UntilTheyAreThereTheyAreStatedAsMissing) {
  const auto missing = [&] {
    Snapshot snapshot;
    state_.AddTo(snapshot, {});
    return snapshot.stacks_missing.value_or("");
  };
  EXPECT_EQ(missing(), "");
  state_.Collected("a", now_);
  EXPECT_THAT(missing(), HasSubstr("still being taken"));
  EXPECT_EQ(Ask(), StackLook::kStopping);
  EXPECT_THAT(missing(), HasSubstr("still being taken"));
  StackReading part = reading_;
  part.complete = false;
  state_.Observe(part, {}, now_, notices_);
  EXPECT_THAT(missing(), StartsWith("no eu-stack; "));
  EXPECT_THAT(missing(), HasSubstr("still being taken"));
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_EQ(missing(), "no eu-stack");
}

TEST_F(StacksStateTest, OfAJobThatAdvancesTheyHoldForTheirCollection) {
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  state_.JobProgressed();
  state_.Observe(reading_, {}, now_, notices_);
  const auto at = [&](absl::Duration now) {
    Snapshot snapshot;
    state_.AddTo(snapshot, {now, {}});
    return snapshot.stacks;
  };
  EXPECT_THAT(at(now_ + kStackHold - absl::Seconds(1)), SizeIs(1));
  EXPECT_THAT(at(now_ + kStackHold), IsEmpty());

  // Stacks that were taken in a standstill hold as long as the standstill does.
  now_ += absl::Hours(1);
  state_.Collected("b", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(at(now_ + absl::Hours(1)), SizeIs(1));
  state_.JobProgressed();
  EXPECT_THAT(at(now_ + absl::Hours(1)), IsEmpty());
}

TEST_F(StacksStateTest, AnotherProcessMakesThemWorthless) {
  state_.Collected("a", now_);
  EXPECT_EQ(Ask(), StackLook::kStopping);
  state_.ProcessReplaced(std::nullopt);
  state_.Observe(reading_, {}, now_, notices_);
  EXPECT_THAT(stacks(), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent

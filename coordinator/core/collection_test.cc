#include "coordinator/core/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNumber = 5;
constexpr char kIncident[] = "20260131T235959Z-0123abcd";

std::vector<Target> Targets(int count) {
  std::vector<Target> targets;
  for (int task = 0; task < count; ++task) targets.push_back({{0, task}, task + 1});
  return targets;
}

template <typename Message>
std::vector<StreamId> SentTo(const Effects& effects) {
  std::vector<StreamId> streams;
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    if (send != nullptr && std::holds_alternative<Message>(send->message)) {
      streams.push_back(send->stream);
    }
  }
  return streams;
}

class CollectionTest : public ::testing::Test {
 protected:
  Collection Begin(int workers, int64_t budget = kMaxCollectionBytes) {
    return Collection(kNumber, kIncident, Targets(workers), absl::Seconds(5), budget, now_,
                      effects_);
  }
  absl::Status Ready(Collection& collection, int task, int64_t size) {
    return collection.OnReady({0, task}, {kNumber, size}, now_, effects_);
  }
  absl::Status Deliver(Collection& collection, int task, int64_t bytes = 1000) {
    return collection.OnSnapshot({0, task}, bytes, now_, effects_);
  }

  absl::Duration now_ = absl::Seconds(50);
  Effects effects_;
};

TEST_F(CollectionTest, AsksEveryoneAndLetsAFewSendAtOnce) {
  Collection collection = Begin(20);
  EXPECT_EQ(SentTo<wire::Collect>(effects_).size(), 20u);
  EXPECT_EQ(collection.in_flight(), kUpFrontCredits);
  EXPECT_LE(collection.bytes_in_flight(), kMaxBytesInFlight);
  EXPECT_FALSE(collection.Done());
}

TEST_F(CollectionTest, NobodyToAskIsDone) { EXPECT_TRUE(Begin(0).Done()); }

TEST_F(CollectionTest, DoneOnceEverybodyHasAnsweredOrGone) {
  Collection collection = Begin(3);
  EXPECT_TRUE(Deliver(collection, 0).ok());
  collection.Leave({0, 1}, now_, effects_);
  EXPECT_FALSE(collection.Done());
  EXPECT_TRUE(Deliver(collection, 2).ok());
  EXPECT_TRUE(collection.Done());
  EXPECT_TRUE(collection.Answered({0, 0}));
  EXPECT_FALSE(collection.Answered({0, 1}));
}

TEST_F(CollectionTest, NumberInFlightIsBounded) {
  Collection collection = Begin(200);
  for (int task = kUpFrontCredits; task < 200; ++task) {
    EXPECT_TRUE(Ready(collection, task, 1000).ok());
    EXPECT_LE(collection.in_flight(), kMaxSnapshotsInFlight);
  }
  EXPECT_EQ(collection.in_flight(), kMaxSnapshotsInFlight);
  const size_t granted = SentTo<wire::Grant>(effects_).size();
  EXPECT_TRUE(Deliver(collection, 0).ok());
  EXPECT_EQ(SentTo<wire::Grant>(effects_).size(), granted + 1);
}

TEST_F(CollectionTest, BytesInFlightAreBounded) {
  Collection collection = Begin(50);
  for (int task = kUpFrontCredits; task < 50; ++task) {
    EXPECT_TRUE(Ready(collection, task, kMaxSnapshotBytes).ok());
    EXPECT_LE(collection.bytes_in_flight(), kMaxBytesInFlight);
  }
  EXPECT_LT(collection.in_flight(), 50u);
}

TEST_F(CollectionTest, UnusedCreditIsTakenBackAndALateSnapshotStillTaken) {
  Collection collection = Begin(kUpFrontCredits + 40);
  for (int task = kUpFrontCredits; task < static_cast<int>(kUpFrontCredits) + 40; ++task) {
    ASSERT_TRUE(Ready(collection, task, kMaxSnapshotBytes).ok());
  }
  const size_t granted = SentTo<wire::Grant>(effects_).size();
  now_ += kGrantTimeout - absl::Milliseconds(1);
  collection.OnTick(now_, effects_);
  EXPECT_EQ(SentTo<wire::Grant>(effects_).size(), granted);
  now_ += absl::Milliseconds(1);
  collection.OnTick(now_, effects_);
  EXPECT_GT(SentTo<wire::Grant>(effects_).size(), granted);
  EXPECT_LE(collection.bytes_in_flight(), kMaxBytesInFlight);
  EXPECT_TRUE(Deliver(collection, 0).ok());
  EXPECT_TRUE(collection.Answered({0, 0}));
}

TEST_F(CollectionTest, SnapshotWithoutAGrantIsRefused) {
  Collection collection = Begin(kUpFrontCredits + 1);
  EXPECT_THAT(std::string(Deliver(collection, kUpFrontCredits).message()),
              HasSubstr("without a grant"));
  EXPECT_TRUE(Ready(collection, kUpFrontCredits, 1000).ok());
  EXPECT_TRUE(Deliver(collection, kUpFrontCredits).ok());
}

TEST_F(CollectionTest, SecondSnapshotIsRefused) {
  Collection collection = Begin(2);
  EXPECT_TRUE(Deliver(collection, 0).ok());
  EXPECT_THAT(std::string(Deliver(collection, 0).message()), HasSubstr("a second snapshot"));
}

TEST_F(CollectionTest, SnapshotOfAWorkerThatWasNotAskedIsRefused) {
  Collection collection = Begin(2);
  EXPECT_TRUE(absl::IsInvalidArgument(Deliver(collection, 7)));
  EXPECT_TRUE(absl::IsInvalidArgument(Ready(collection, 7, 1000)));
}

TEST_F(CollectionTest, AnnouncedSizeOutOfRangeIsRefused) {
  Collection collection = Begin(kUpFrontCredits + 1);
  EXPECT_FALSE(Ready(collection, kUpFrontCredits, kMaxSnapshotBytes + 1).ok());
  EXPECT_FALSE(Ready(collection, kUpFrontCredits, -1).ok());
  EXPECT_TRUE(Ready(collection, kUpFrontCredits, kMaxSnapshotBytes).ok());
}

TEST_F(CollectionTest, SnapshotFarLargerThanAnnouncedIsRefused) {
  Collection collection = Begin(kUpFrontCredits + 2);
  const int a = kUpFrontCredits;
  ASSERT_TRUE(Ready(collection, a, 100'000).ok());
  ASSERT_TRUE(Ready(collection, a + 1, 100'000).ok());
  EXPECT_THAT(std::string(Deliver(collection, a, 1'000'000).message()), HasSubstr("announced"));
  EXPECT_TRUE(Deliver(collection, a + 1, 200'000).ok());
}

TEST_F(CollectionTest, BudgetEndsTheCollection) {
  Collection collection = Begin(kUpFrontCredits + 3, kUpFrontCredits * kMaxSnapshotBytes);
  for (int task = 0; task < static_cast<int>(kUpFrontCredits); ++task) {
    EXPECT_TRUE(Deliver(collection, task, kMaxSnapshotBytes).ok());
  }
  EXPECT_TRUE(Ready(collection, kUpFrontCredits, 1000).ok());
  EXPECT_EQ(collection.over_budget(), 1u);
  EXPECT_EQ(SentTo<wire::Cancel>(effects_).size(), 1u);
}

TEST_F(CollectionTest, WorkerThatComesBackIsAskedAgain) {
  Collection collection = Begin(2);
  collection.Leave({0, 1}, now_, effects_);
  collection.Join({{0, 1}, 99}, absl::Seconds(1), now_, effects_);
  EXPECT_EQ(SentTo<wire::Collect>(effects_).back(), 99);
  EXPECT_TRUE(Deliver(collection, 0).ok());
  EXPECT_FALSE(collection.Done());
  EXPECT_TRUE(Deliver(collection, 1).ok());
  EXPECT_TRUE(collection.Done());
}

TEST_F(CollectionTest, CancelRestTellsWhoHasNotAnswered) {
  Collection collection = Begin(3);
  EXPECT_TRUE(Deliver(collection, 0).ok());
  collection.Leave({0, 1}, now_, effects_);
  collection.CancelRest(effects_);
  EXPECT_THAT(SentTo<wire::Cancel>(effects_), ::testing::ElementsAre(3));
}

}  // namespace
}  // namespace rapideye::coordinator

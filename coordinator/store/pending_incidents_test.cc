#include "coordinator/store/pending_incidents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kNow = absl::Hours(1);
constexpr PendingIncidents::Limits kLimits = {.incidents = 3,
                                              .bytes = 100,
                                              .first_retry = absl::Seconds(1),
                                              .longest_retry = absl::Seconds(5)};

IncidentFiles OfBytes(const std::string& id, size_t bytes) {
  return {.id = id, .files = {{"a", ""}, {"b", std::string(bytes, 'x')}}};
}

TEST(PendingIncidentsTest, WrittenOldestFirst) {
  PendingIncidents pending(kLimits);
  EXPECT_EQ(pending.Begin(kNow), nullptr);
  EXPECT_EQ(pending.NextDue(), absl::InfiniteDuration());
  EXPECT_THAT(pending.Add(OfBytes("1", 10), kNow), IsEmpty());
  EXPECT_THAT(pending.Add(OfBytes("2", 20), kNow), IsEmpty());
  EXPECT_EQ(pending.bytes(), 30);
  EXPECT_EQ(pending.Begin(kNow)->id, "1");
  EXPECT_EQ(pending.Begin(kNow), nullptr);  // one at a time
  pending.Written(kNow);
  EXPECT_EQ(pending.bytes(), 20);
  EXPECT_EQ(pending.Begin(kNow)->id, "2");
  pending.Written(kNow);
  EXPECT_EQ(pending.size(), 0u);
}

TEST(PendingIncidentsTest, FailureIsTriedAgainLaterAndLater) {
  PendingIncidents pending(kLimits);
  pending.Add(OfBytes("1", 1), kNow);
  absl::Duration now = kNow;
  int tries = 0;
  for (const int seconds : {1, 2, 4, 5, 5}) {
    ASSERT_NE(pending.Begin(now), nullptr) << seconds;
    const PendingIncidents::Failure failure = pending.Failed(now);
    EXPECT_EQ(failure.tries, ++tries);
    EXPECT_EQ(failure.retry_in, absl::Seconds(seconds));
    now += failure.retry_in;
    EXPECT_EQ(pending.NextDue(), now);
    EXPECT_EQ(pending.Begin(now - absl::Nanoseconds(1)), nullptr);
  }
}

TEST(PendingIncidentsTest, OnceTheDiskTakesOneTheOthersAreDue) {
  PendingIncidents pending(kLimits);
  pending.Add(OfBytes("1", 1), kNow);
  pending.Begin(kNow);
  pending.Failed(kNow);
  EXPECT_EQ(pending.Begin(kNow), nullptr);
  // A new one need not wait for the old one's turn.
  pending.Add(OfBytes("2", 1), kNow);
  EXPECT_EQ(pending.Begin(kNow)->id, "2");
  pending.Written(kNow);
  EXPECT_EQ(pending.Begin(kNow)->id, "1");
}

TEST(PendingIncidentsTest, TooManyGiveUpTheOldest) {
  PendingIncidents pending(kLimits);
  for (const char* id : {"1", "2", "3"}) EXPECT_THAT(pending.Add(OfBytes(id, 1), kNow), IsEmpty());
  EXPECT_THAT(pending.Add(OfBytes("4", 1), kNow), ElementsAre("1"));
  EXPECT_THAT(pending.Ids(), ElementsAre("2", "3", "4"));
  EXPECT_EQ(pending.bytes(), 3);
}

TEST(PendingIncidentsTest, TooManyBytesGiveUpTheOldest) {
  PendingIncidents pending(kLimits);
  pending.Add(OfBytes("1", 50), kNow);
  EXPECT_THAT(pending.Add(OfBytes("2", 50), kNow), IsEmpty());
  EXPECT_THAT(pending.Add(OfBytes("3", 51), kNow), ElementsAre("1", "2"));
  EXPECT_EQ(pending.bytes(), 51);
}

TEST(PendingIncidentsTest, TheNewestIsKeptHoweverLarge) {
  PendingIncidents pending(kLimits);
  EXPECT_THAT(pending.Add(OfBytes("1", 1000), kNow), IsEmpty());
  EXPECT_THAT(pending.Add(OfBytes("2", 2000), kNow), ElementsAre("1"));
  EXPECT_THAT(pending.Ids(), ElementsAre("2"));
}

TEST(PendingIncidentsTest, WhatIsBeingWrittenIsNotGivenUp) {
  PendingIncidents pending(kLimits);
  for (const char* id : {"1", "2", "3"}) pending.Add(OfBytes(id, 1), kNow);
  const auto writing = pending.Begin(kNow);
  EXPECT_THAT(pending.Add(OfBytes("4", 1), kNow), ElementsAre("2"));
  EXPECT_EQ(writing->id, "1");
  pending.Written(kNow);
  EXPECT_THAT(pending.Ids(), ElementsAre("3", "4"));
}

TEST(PendingIncidentsTest, AtTheEndEverythingIsDue) {
  PendingIncidents pending(kLimits);
  pending.Add(OfBytes("1", 1), kNow);
  pending.Begin(kNow);
  pending.Failed(kNow);
  pending.MakeDue();
  EXPECT_NE(pending.Begin(kNow), nullptr);
}

}  // namespace
}  // namespace rapideye::coordinator

#include "coordinator/core/peer_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kStart = absl::Hours(1);

TEST(PeerStreams, TakesABurstThenSoManyMessagesASecond) {
  PeerStreams streams;
  streams.Open({.stream = 1, .peer = "10.0.0.1"}, kStart);
  streams.Open({.stream = 2, .peer = "10.0.0.2"}, kStart);
  for (int i = 0; i < static_cast<int>(kMessageBurst); ++i) {
    ASSERT_TRUE(streams.CountMessage(1, kStart).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(streams.CountMessage(1, kStart)));
  EXPECT_TRUE(streams.CountMessage(2, kStart).ok());
  EXPECT_TRUE(streams.CountMessage(1, kStart + absl::Seconds(1) / kMessagesPerSecond * 1.1).ok());
}

TEST(PeerStreams, WithoutAHelloIsOverdueAtItsDeadline) {
  PeerStreams streams;
  const Membership membership(JobShape{});
  streams.Open({.stream = 1, .peer = "10.0.0.1"}, kStart);
  EXPECT_THAT(streams.FindOverdue(membership, kStart + kHelloDeadline - absl::Milliseconds(1)),
              IsEmpty());
  const auto overdue = streams.FindOverdue(membership, kStart + kHelloDeadline);
  ASSERT_THAT(overdue, SizeIs(1));
  EXPECT_TRUE(overdue[0].nameless);
  streams.Erase(1);
  EXPECT_THAT(streams.FindOverdue(membership, kStart + kHelloDeadline), IsEmpty());
}

TEST(PeerStreams, OneHostHasSoManyStreams) {
  PeerStreams streams;
  StreamId id = 0;
  for (size_t i = 0; i < kMaxStreamsOfHost; ++i) {
    const StreamOpened opened{.stream = ++id, .peer = "ipv4:10.0.0.1:" + std::to_string(i)};
    ASSERT_FALSE(streams.Crowded(opened));
    streams.Open(opened, kStart);
    // A test may run a whole job on one address.
    streams.Open({.stream = ++id, .peer = "ipv4:127.0.0.1:" + std::to_string(i)}, kStart);
  }
  EXPECT_TRUE(streams.Crowded({.stream = 0, .peer = "ipv4:10.0.0.1:9"}));
  EXPECT_FALSE(streams.Crowded({.stream = 0, .peer = "ipv4:10.0.0.2:9"}));
  EXPECT_FALSE(streams.Crowded({.stream = 0, .peer = "ipv4:127.0.0.1:9"}));
  streams.Erase(1);
  EXPECT_FALSE(streams.Crowded({.stream = 0, .peer = "ipv4:10.0.0.1:9"}));
}

TEST(PeerStreams, OneCertificateHasSoManyStreamsWhereItNamesAWorker) {
  for (const bool names_worker : {false, true}) {
    PeerStreams streams(names_worker);
    const auto stream = [](size_t i, const std::string& identity) {
      return StreamOpened{.stream = static_cast<StreamId>(i + 1),
                          .peer = "ipv4:10.0.0." + std::to_string(i) + ":1",
                          .identity = identity};
    };
    for (size_t i = 0; i < kMaxStreamsOfCertificate; ++i) {
      ASSERT_FALSE(streams.Crowded(stream(i, "agent-0-1")));
      streams.Open(stream(i, "agent-0-1"), kStart);
    }
    EXPECT_EQ(streams.Crowded(stream(200, "agent-0-1")), names_worker);
    EXPECT_FALSE(streams.Crowded(stream(200, "agent-0-2")));
    EXPECT_FALSE(streams.Crowded(stream(200, "")));
    streams.Erase(1);
    EXPECT_FALSE(streams.Crowded(stream(200, "agent-0-1")));
  }
}

// Behind address translation all agents have one address, and certificates distinguish them.
TEST(PeerStreams, AWholeJobMayComeFromOneAddressWhereCertificatesNameWorkers) {
  for (const bool names_worker : {false, true}) {
    PeerStreams streams(names_worker);
    const Membership membership(
        {}, {.templates = names_worker ? std::vector<std::string>{"agent-{slice}-{task}"}
                                       : std::vector<std::string>{}});
    StreamId id = 0;
    const auto stream = [&] {
      ++id;
      return StreamOpened{.stream = id,
                          .peer = "ipv4:10.0.0.1:" + std::to_string(id),
                          .identity = "agent-0-" + std::to_string(id)};
    };
    for (size_t i = 0; i < kMaxStreamsOfHost; ++i) streams.Open(stream(), kStart);
    EXPECT_EQ(streams.Crowded(stream()), !names_worker);
    EXPECT_EQ(streams.VoterOf(1, membership), names_worker ? "agent-0-1" : "ipv4:10.0.0.1");
  }
}

TEST(PeerStreams, LogsABurstOfLinesAndCountsTheRest) {
  PeerStreams streams;
  Effects effects;
  int64_t unlogged = 0;
  const int burst = static_cast<int>(kPeerLineBurst);
  for (int i = 0; i < burst + 3; ++i) streams.Warn("it lies", kStart, unlogged, effects);
  EXPECT_THAT(effects, SizeIs(burst));
  EXPECT_EQ(unlogged, 3);
  streams.Warn("it lies", kStart + absl::Hours(1), unlogged, effects);
  EXPECT_EQ(unlogged, 3);
  EXPECT_THAT(std::get<Log>(effects.back()).text, HasSubstr("3 lines of this kind left out"));
}

}  // namespace
}  // namespace rapideye::coordinator

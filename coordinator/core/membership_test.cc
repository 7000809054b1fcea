#include "coordinator/core/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

wire::Hello HelloOf(int slice, int task, int64_t incarnation = 10) {
  wire::Hello hello;
  hello.job = "job";
  hello.worker = {slice, task};
  hello.host = "host-" + std::to_string(slice) + "-" + std::to_string(task);
  hello.agent_incarnation = incarnation;
  hello.poll_interval = absl::Seconds(5);
  return hello;
}

JobShape TwoByFour() { return {.job = "job", .slices = 2, .tasks_per_slice = 4}; }

TEST(Membership, AdmitsAWorkerOfTheJob) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(1, 3)).ok());
  EXPECT_EQ(membership.connected(), 1u);
  EXPECT_EQ(membership.FindByStream(1)->hello.host, "host-1-3");
}

TEST(Membership, RefusesAForeignJob) {
  Membership membership(TwoByFour());
  wire::Hello hello = HelloOf(0, 0);
  hello.job = "other";
  const absl::Status status = membership.Admit(1, hello).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("hello.job: 'other'"));
  hello.job = "job";
  EXPECT_TRUE(membership.Admit(1, hello).ok());
}

TEST(Membership, WithoutAConfiguredJobTheFirstWorkerNamesIt) {
  Membership membership(JobShape{});
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0)).ok());
  EXPECT_EQ(membership.job(), "job");
  wire::Hello hello = HelloOf(0, 1);
  hello.job = "other";
  EXPECT_FALSE(membership.Admit(2, hello).ok());
}

TEST(Membership, RefusesSliceAndTaskOutOfTheConfiguredShape) {
  Membership membership(TwoByFour());
  EXPECT_THAT(std::string(membership.Admit(1, HelloOf(2, 0)).status().message()),
              HasSubstr("hello.worker.slice: 2 is out of range"));
  EXPECT_THAT(std::string(membership.Admit(1, HelloOf(0, 4)).status().message()),
              HasSubstr("hello.worker.task: 4 is out of range"));
  EXPECT_FALSE(membership.Admit(1, HelloOf(-1, 0)).ok());
  EXPECT_TRUE(membership.Admit(1, HelloOf(1, 3)).ok());
}

TEST(Membership, RefusesAWorkerOutOfTheShapeItStatesItself) {
  Membership membership(JobShape{});
  wire::Hello hello = HelloOf(2, 0);
  hello.slices = 2;
  EXPECT_FALSE(membership.Admit(1, hello).ok());
  hello.slices = 3;
  EXPECT_TRUE(membership.Admit(1, hello).ok());
}

TEST(Membership, RefusesProtocolVersionsThatAreNotSpoken) {
  Membership membership(TwoByFour());
  wire::Hello hello = HelloOf(0, 0);
  hello.protocol_version = wire::kNewestProtocolVersion + 1;
  EXPECT_TRUE(absl::IsFailedPrecondition(membership.Admit(1, hello).status()));
  hello.protocol_version = wire::kNewestProtocolVersion;
  EXPECT_TRUE(membership.Admit(1, hello).ok());
}

TEST(Membership, NewerAgentSupersedesAtOnce) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0, 10)).ok());
  const auto admission = membership.Admit(2, HelloOf(0, 0, 11));
  ASSERT_TRUE(admission.ok());
  EXPECT_EQ(admission->superseded, 1);
  EXPECT_EQ(membership.FindByStream(1), nullptr);
  EXPECT_EQ(membership.FindByStream(2)->hello.agent_incarnation, 11);
  // The half-open connection ends later and changes nothing.
  EXPECT_EQ(membership.Leave(1), std::nullopt);
  EXPECT_EQ(membership.connected(), 1u);
}

TEST(Membership, OlderAgentAndDuplicateAreRefused) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0, 10)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(2, HelloOf(0, 0, 9)).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(2, HelloOf(0, 0, 10)).status()));
  EXPECT_EQ(membership.FindByStream(1)->hello.agent_incarnation, 10);
  // The same agent may come back once its stream has gone.
  ASSERT_EQ(membership.Leave(1), (WorkerId{0, 0}));
  const auto admission = membership.Admit(2, HelloOf(0, 0, 10));
  ASSERT_TRUE(admission.ok());
  EXPECT_FALSE(admission->new_agent);
}

TEST(Membership, AgentWhoseClockWentBackTakesThePlaceOfOneThatHasGone) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0, 10)).ok());
  ASSERT_EQ(membership.Leave(1), (WorkerId{0, 0}));
  const auto admission = membership.Admit(2, HelloOf(0, 0, 9));
  ASSERT_TRUE(admission.ok());
  EXPECT_TRUE(admission->new_agent);
  // If the first agent lives after all, its new connection is the newer of the two.
  const auto back = membership.Admit(3, HelloOf(0, 0, 10));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->superseded, 2);
}

wire::Hello Connection(int64_t number, int64_t incarnation = 10) {
  wire::Hello hello = HelloOf(0, 0, incarnation);
  hello.connection = number;
  return hello;
}

TEST(Membership, NewerConnectionOfTheSameAgentTakesOverAtOnce) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, Connection(4)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(2, Connection(4)).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(2, Connection(3)).status()));
  const auto admission = membership.Admit(2, Connection(5));
  ASSERT_TRUE(admission.ok());
  EXPECT_EQ(admission->superseded, 1);
  EXPECT_FALSE(admission->new_agent);
  // A Hello that was long on its way belongs to a stream that has ended.
  ASSERT_TRUE(membership.Leave(2).has_value());
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(3, Connection(4)).status()));
  EXPECT_TRUE(membership.Admit(3, Connection(6)).ok());
}

TEST(Membership, AgentsThatCallThemselvesTheSameDoNotDriveEachOtherOutForEver) {
  Membership membership(TwoByFour());
  int64_t connection = 1;
  ASSERT_TRUE(membership.Admit(1, Connection(connection)).ok());
  for (int i = 0; i < kMaxTakeovers; ++i) {
    ++connection;
    ASSERT_TRUE(membership.Admit(connection, Connection(connection)).ok()) << i;
  }
  ++connection;
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(connection, Connection(connection)).status()));
  // A newer agent is admitted, and so is the same agent once its stream has ended.
  EXPECT_TRUE(membership.Admit(connection, Connection(1, 11)).ok());
  ASSERT_TRUE(membership.Leave(connection).has_value());
  EXPECT_TRUE(membership.Admit(connection + 1, Connection(2, 11)).ok());
}

TEST(Membership, EqualIncarnationOnAnotherHostIsAnotherAgent) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, Connection(1)).ok());
  wire::Hello other = Connection(2);
  other.host = "elsewhere";
  EXPECT_TRUE(absl::IsAlreadyExists(membership.Admit(2, other).status()));
  EXPECT_TRUE(membership.Admit(2, Connection(2)).ok());
}

TEST(Membership, AnotherCertificateWaitsUntilTheOneThatSpeaksHasGone) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0, 10), {.identity = "spiffe://job/a"}).ok());
  const absl::Status status =
      membership.Admit(2, HelloOf(0, 0, 11), {.identity = "spiffe://job/b"}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'spiffe://job/a'"));
  EXPECT_TRUE(membership.Admit(2, HelloOf(0, 0, 11), {.identity = "spiffe://job/a"}).ok());
  ASSERT_TRUE(membership.Leave(2).has_value());
  EXPECT_TRUE(membership.Admit(3, HelloOf(0, 0, 12), {.identity = "spiffe://job/b"}).ok());
}

TEST(Membership, SecondHelloOnAStreamIsRefused) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0, 10)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(membership.Admit(1, HelloOf(0, 0, 11)).status()));
}

TEST(Membership, ExpectsTheConfiguredShapeAndRemembersHosts) {
  Membership membership(TwoByFour());
  ASSERT_TRUE(membership.Admit(1, HelloOf(1, 0)).ok());
  membership.Leave(1);
  const std::vector<ExpectedWorker> expected = membership.Expected();
  ASSERT_EQ(expected.size(), 8u);
  EXPECT_EQ(expected[4].id, (WorkerId{1, 0}));
  EXPECT_EQ(expected[4].host, "host-1-0");
  EXPECT_EQ(expected[5].host, "");
  EXPECT_FALSE(membership.Complete());
}

TEST(Membership, LearnsTheShapeThatMostWorkersState) {
  Membership membership(JobShape{});
  for (int task = 0; task < 3; ++task) {
    wire::Hello hello = HelloOf(0, task);
    hello.slices = task == 0 ? 500 : 1;
    hello.tasks_per_slice = 4;
    ASSERT_TRUE(membership.Admit(task + 1, hello).ok());
  }
  EXPECT_EQ(membership.Expected().size(), 4u);
}

// Each agent of the job connects from its own host, as many invented agents from one host.
TEST(Membership, ThoseOfOneHostInventNoShape) {
  Membership membership(JobShape{});
  StreamId stream = 0;
  for (int task = 0; task < 4; ++task) {
    wire::Hello hello = HelloOf(0, task);
    hello.slices = 1;
    hello.tasks_per_slice = 4;
    ASSERT_TRUE(membership.Admit(++stream, hello, {.host = "10.0.1." + std::to_string(task)}).ok());
  }
  for (int task = 4; task < 40; ++task) {
    wire::Hello hello = HelloOf(0, task);
    hello.slices = 1;
    hello.tasks_per_slice = 5000;
    ASSERT_TRUE(membership.Admit(++stream, hello, {.host = "10.0.0.66"}).ok());
  }
  EXPECT_EQ(membership.Expected().size(), 40u);
}

// All agents but one come from one translated address: certificates tell them apart.
TEST(Membership, BehindOneAddressEachCertificateStatesTheShape) {
  Membership membership(JobShape{}, {.templates = {"agent-{slice}-{task}"}});
  StreamId stream = 0;
  const auto admit = [&](int task, int tasks, const std::string& address) {
    wire::Hello hello = HelloOf(0, task);
    hello.slices = 1;
    hello.tasks_per_slice = tasks;
    const std::string name = "agent-0-" + std::to_string(task);
    return membership.Admit(++stream, hello, {.identity = name, .names = {name}, .host = address});
  };
  ASSERT_TRUE(admit(0, 5000, "10.0.0.66").ok());
  for (int task = 1; task < 4; ++task) ASSERT_TRUE(admit(task, 4, "10.0.0.1").ok());
  EXPECT_EQ(membership.Expected().size(), 4u);
}

TEST(Membership, WhoHasGoneStatesNoShape) {
  Membership membership(JobShape{});
  wire::Hello honest = HelloOf(0, 0);
  honest.slices = 1;
  honest.tasks_per_slice = 2;
  ASSERT_TRUE(membership.Admit(1, honest).ok());
  for (StreamId stream = 2; stream < 100; ++stream) {
    wire::Hello ghost = HelloOf(0, static_cast<int>(stream));
    ghost.slices = 1;
    ghost.tasks_per_slice = 5000;
    ASSERT_TRUE(membership.Admit(stream, ghost).ok());
    membership.Leave(stream);
  }
  EXPECT_EQ(membership.Expected().size(), 2u);
  // The shape that the last worker stated is remembered.
  membership.Leave(1);
  EXPECT_EQ(membership.Expected().size(), 2u);
}

TEST(Membership, OneHostSpeaksForSoManyWorkers) {
  Membership membership(JobShape{});
  StreamId stream = 0;
  const auto admit = [&](int task, const std::string& host) {
    const absl::Status status =
        membership.Admit(++stream, HelloOf(0, task), {.host = host}).status();
    membership.Leave(stream);
    return status;
  };
  const int most = static_cast<int>(kMaxStreamsOfHost);
  for (int task = 0; task < most; ++task) ASSERT_TRUE(admit(task, "10.0.0.66").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(admit(most, "10.0.0.66")));
  EXPECT_TRUE(admit(most, "10.0.0.1").ok());
  // The host may go on speaking for its workers, until another host speaks for them.
  EXPECT_TRUE(admit(0, "10.0.0.66").ok());
  EXPECT_TRUE(admit(0, "10.0.0.2").ok());
  EXPECT_TRUE(admit(most + 1, "10.0.0.66").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(admit(most + 2, "10.0.0.66")));
  for (int task = 0; task <= most; ++task) ASSERT_TRUE(admit(5000 + task, "127.0.0.1").ok());
}

TEST(Membership, WithoutAnyShapeExpectsWhoConnected) {
  Membership membership(JobShape{});
  ASSERT_TRUE(membership.Admit(1, HelloOf(3, 1)).ok());
  ASSERT_TRUE(membership.Admit(2, HelloOf(0, 1)).ok());
  EXPECT_EQ(membership.Expected().size(), 2u);
  // Without a shape it cannot be known that these are all workers.
  EXPECT_FALSE(membership.Complete());
}

TEST(Membership, CompleteOnceEveryExpectedWorkerIsConnected) {
  Membership membership(JobShape{.job = "", .slices = 1, .tasks_per_slice = 2});
  ASSERT_TRUE(membership.Admit(1, HelloOf(0, 0)).ok());
  EXPECT_FALSE(membership.Complete());
  ASSERT_TRUE(membership.Admit(2, HelloOf(0, 1)).ok());
  EXPECT_TRUE(membership.Complete());
  membership.Leave(1);
  EXPECT_FALSE(membership.Complete());
}

TEST(Membership, PeerTextIsEscapedAndCut) {
  EXPECT_EQ(Quoted("a\nb"), "'a\\nb'");
  EXPECT_LT(Quoted(std::string(100'000, 'x')).size(), 200u);
}

}  // namespace
}  // namespace rapideye::coordinator

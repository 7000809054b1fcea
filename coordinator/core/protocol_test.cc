// Tests of the messages that agents may and may not send, and when: refused beside accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"
#include "proto/common/address/address.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

// A job of four workers in its first round, which worker 3 keeps open.
FakeJob Collecting() {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).answers = false;
  job.Run(absl::Seconds(4));
  EXPECT_EQ(job.core().counters().suspicions, 1);
  return job;
}

int64_t CollectionOf(const FakeAgent& agent) {
  return std::get<wire::Collect>(agent.inbox.back()).collection;
}

TEST(Protocol, StreamMustBeginWithHello) {
  FakeJob job(Options{}, 1, 2);
  FakeAgent& agent = job.at(0, 0);
  job.Disconnect(agent);
  agent.stream = 0;
  Effects effects = job.core().Step(StreamOpened{.stream = 900, .peer = "p"}, job.now());
  effects = job.core().Step(
      MessageReceived{.stream = 900, .message = wire::Heartbeat{}, .bytes = 1}, job.now());
  bool closed = false;
  for (const Effect& effect : effects) {
    if (const auto* close = std::get_if<Close>(&effect)) {
      closed = absl::IsFailedPrecondition(close->status);
    }
  }
  EXPECT_TRUE(closed);
  job.Connect(agent);
  EXPECT_FALSE(agent.closed.has_value());
}

TEST(Protocol, AnAgentIsToldWhoseTheAddressesAreThatItAsksAbout) {
  FakeJob job(Options{}, 1, 2);
  FakeAgent& other = job.at(0, 1);
  const IpAddress known = FromV4({10, 0, 0, 2});
  job.Disconnect(other);
  other.hello.addresses = {{"eth1", known}};
  job.Connect(other);
  FakeAgent& asking = job.at(0, 0);
  job.Step(MessageReceived{.stream = asking.stream,
                           .message = wire::WhoIs{{FromV4({10, 9, 9, 9}), known}},
                           .bytes = 20});
  const auto* peers = std::get_if<wire::Peers>(&asking.inbox.back());
  ASSERT_NE(peers, nullptr);
  ASSERT_EQ(peers->peers.size(), 1u);
  EXPECT_EQ(peers->peers[0].address, known);
  EXPECT_EQ(peers->peers[0].worker, (WorkerId{0, 1}));
}

TEST(Protocol, StreamThatStaysSilentIsClosed) {
  FakeJob job(Options{}, 1, 1);
  job.Step(StreamOpened{.stream = 900, .peer = "p"});
  job.Run(kHelloDeadline - absl::Seconds(1));
  EXPECT_EQ(job.core().counters().hello_timeouts, 0);
  job.Run(absl::Seconds(2));
  EXPECT_EQ(job.core().counters().hello_timeouts, 1);
  EXPECT_FALSE(job.at(0, 0).closed.has_value());
}

TEST(Protocol, MalformedMessageCostsItsSenderTheStream) {
  FakeJob job(Options{}, 1, 2);
  job.Step(MessageMalformed{job.at(0, 0).stream, absl::InvalidArgumentError("hello.host: bad")});
  ASSERT_TRUE(job.at(0, 0).closed.has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(*job.at(0, 0).closed));
  EXPECT_FALSE(job.at(0, 1).closed.has_value());
  EXPECT_TRUE(job.Logged("hello.host: bad"));
  EXPECT_EQ(job.core().counters().messages_refused, 1);
}

TEST(Protocol, NewerAgentSupersedesAHalfOpenOne) {
  FakeJob job(Options{}, 1, 2);
  FakeAgent& agent = job.at(0, 0);
  ++agent.hello.agent_incarnation;
  job.HelloOnNewStream(agent);
  EXPECT_FALSE(agent.closed.has_value());
  EXPECT_EQ(job.core().counters().superseded, 1);
  --agent.hello.agent_incarnation;
  job.HelloOnNewStream(agent);
  ASSERT_TRUE(agent.closed.has_value());
  EXPECT_TRUE(absl::IsAlreadyExists(*agent.closed));
}

TEST(Protocol, NewerConnectionOfTheSameAgentSupersedesAHalfOpenOne) {
  FakeJob job(Quick(), 1, 2);
  FakeAgent& agent = job.at(0, 0);
  job.HelloOnNewStream(agent);
  EXPECT_FALSE(agent.closed.has_value());
  EXPECT_EQ(job.core().counters().takeovers, 1);
  EXPECT_EQ(job.core().counters().superseded, 0);
  EXPECT_TRUE(job.Logged("a newer connection takes the place"));
}

TEST(Protocol, AgentOfTheOldProtocolWaitsForItsOldStreamToEnd) {
  FakeJob job(Quick(), 1, 2);
  FakeAgent& agent = job.at(0, 0);
  job.Disconnect(agent);
  agent.hello.protocol_version = 1;
  job.Connect(agent);
  EXPECT_FALSE(agent.closed.has_value());
  job.HelloOnNewStream(agent);
  ASSERT_TRUE(agent.closed.has_value());
  EXPECT_TRUE(absl::IsAlreadyExists(*agent.closed));
  EXPECT_EQ(job.core().counters().duplicate_agents, 1);
}

TEST(Protocol, AgentThatStopsTalkingIsClosedAndTheOthersAreNot) {
  FakeJob job(Quick(), 1, 3);
  FakeAgent& silent = job.at(0, 2);
  const StreamId stream = std::exchange(silent.stream, 0);  // connected, and says nothing
  job.Run(kMaxSilence - absl::Seconds(1));
  EXPECT_EQ(job.core().counters().silent_streams, 0);
  silent.stream = stream;
  job.Heartbeat(silent);
  silent.stream = 0;
  job.Run(kMaxSilence + absl::Seconds(1));
  EXPECT_EQ(job.core().counters().silent_streams, 1);
  EXPECT_FALSE(job.at(0, 0).closed.has_value());
}

TEST(Protocol, RefusalsWithoutNumberDoNotFloodTheLog) {
  FakeJob job(Quick(), 1, 1);
  for (int i = 0; i < 1000; ++i) {
    job.Step(StreamRefused{"10.0.0.9:1", absl::PermissionDeniedError("no certificate of ours")});
  }
  EXPECT_EQ(job.core().counters().streams_refused, 1000);
  EXPECT_EQ(job.core().counters().unlogged_lines, 1000 - static_cast<int64_t>(kPeerLineBurst));
  job.Run(absl::Seconds(5));
  job.Step(StreamRefused{"10.0.0.9:1", absl::PermissionDeniedError("no certificate of ours")});
  EXPECT_TRUE(job.Logged("(and 900 lines of this kind left out)"));
}

TEST(Protocol, FloodCostsItsSenderTheStream) {
  FakeJob job(Options{}, 1, 2);
  for (int i = 0; i < kMessageBurst + 10; ++i) {
    if (job.at(0, 0).stream != 0) job.Heartbeat(job.at(0, 0));
  }
  ASSERT_TRUE(job.at(0, 0).closed.has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(*job.at(0, 0).closed));
  EXPECT_FALSE(job.at(0, 1).closed.has_value());
}

TEST(Protocol, MessagesOfUnknownKindsFloodLikeOthers) {
  FakeJob job(Options{}, 1, 2);
  for (int i = 0; i < kMessageBurst - 10; ++i) job.Step(MessageSkipped{job.at(0, 0).stream});
  EXPECT_FALSE(job.at(0, 0).closed.has_value());
  for (int i = 0; i < 20; ++i) job.Step(MessageSkipped{job.at(0, 0).stream});
  ASSERT_TRUE(job.at(0, 0).closed.has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(*job.at(0, 0).closed));
  EXPECT_EQ(job.core().counters().floods, 1);
}

TEST(Protocol, AttentiveAgentIsNoFlood) {
  FakeJob job(Options{}, 1, 2);
  job.Run(absl::Minutes(5), absl::Milliseconds(250));
  EXPECT_EQ(job.core().counters().floods, 0);
}

TEST(Protocol, AnswerToACollectionThatNeverWasIsRefused) {
  FakeJob job(Options{}, 1, 2);
  job.Say(job.at(0, 0), wire::SnapshotReply{77, job.Show(job.at(0, 0))});
  ASSERT_TRUE(job.at(0, 0).closed.has_value());
  EXPECT_THAT(std::string(job.at(0, 0).closed->message()), HasSubstr("77 was never begun"));
}

TEST(Protocol, AnswerToACollectionThatHasEndedIsIgnored) {
  FakeJob job = Collecting();
  const int64_t collection = CollectionOf(job.at(0, 3));
  job.Run(absl::Seconds(20));
  ASSERT_EQ(job.concluded().size(), 1u);
  job.Say(job.at(0, 3), wire::SampleReady{collection, 1000});
  EXPECT_FALSE(job.at(0, 3).closed.has_value());
}

TEST(Protocol, SnapshotOfAnotherWorkerIsRefused) {
  FakeJob job = Collecting();
  FakeAgent& agent = job.at(0, 3);
  job.Say(agent, wire::SnapshotReply{CollectionOf(agent), job.Show(job.at(0, 1))});
  ASSERT_TRUE(agent.closed.has_value());
  EXPECT_THAT(std::string(agent.closed->message()), HasSubstr("snapshot.worker"));
}

TEST(Protocol, SnapshotOfItsOwnWorkerIsTaken) {
  FakeJob job = Collecting();
  FakeAgent& agent = job.at(0, 3);
  job.Say(agent, wire::SnapshotReply{CollectionOf(agent), job.Show(agent)});
  EXPECT_FALSE(agent.closed.has_value());
  job.Run(absl::Seconds(20));
  EXPECT_EQ(job.concluded().back().capture.snapshots.size(), 4u);
}

TEST(Protocol, HloThatWasNotAskedForIsRefused) {
  FakeJob job = Collecting();
  FakeAgent& agent = job.at(0, 3);
  job.Say(agent, wire::HloReply{CollectionOf(agent), job.Show(agent), ""});
  ASSERT_TRUE(agent.closed.has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(*agent.closed));
}

TEST(Protocol, SecondAnswerWithHloIsRefused) {
  FakeJob job(Quick(), 1, 4);
  job.Run(absl::Seconds(20));
  job.Freeze();
  // The runtime at one of the two positions stays silent, so that answers are awaited.
  job.at(0, 3).pc = 0x80;
  int64_t collection = 0;
  std::optional<WorkerId> answered;
  job.ShowEffectsTo([&](const Effect& effect, std::optional<WorkerId> worker) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr || !std::holds_alternative<wire::HloRequest>(send->message)) return;
    if (worker == WorkerId{0, 3}) {
      job.at(0, 3).answers = false;
      return;
    }
    collection = std::get<wire::HloRequest>(send->message).collection;
    answered = worker;
  });
  for (int i = 0; i < 100 && !answered.has_value(); ++i) {
    job.Run(absl::Milliseconds(100), absl::Milliseconds(100));
  }
  ASSERT_TRUE(answered.has_value());
  FakeAgent& agent = job.at(answered->slice, answered->task);
  EXPECT_FALSE(agent.closed.has_value());
  job.Say(agent, wire::HloReply{collection, job.Show(agent), ""});
  ASSERT_TRUE(agent.closed.has_value());
  EXPECT_THAT(std::string(agent.closed->message()), HasSubstr("a second answer"));
}

// The time for probes ends before that for answers about programs.
TEST(Protocol, WhileAnswersAreAwaitedTheCoreSleeps) {
  FakeJob job(Quick(), 2, 2);
  for (auto& [id, agent] : job.agents()) {
    job.Disconnect(agent);
    agent.hello.addresses = {
        {"eth0", *ParseIpAddress(absl::StrCat("10.0.", id.slice, ".", id.task + 1))}};
    job.Connect(agent);
  }
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(1, 1).pc = 0x80;
  bool probes = false;
  job.ShowEffectsTo([&](const Effect& effect, std::optional<WorkerId> worker) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr) return;
    probes |= std::holds_alternative<wire::ProbeRequest>(send->message);
    // It answers everything but this.
    if (worker == WorkerId{1, 1}) {
      job.at(1, 1).answers = !std::holds_alternative<wire::HloRequest>(send->message);
    }
  });
  EXPECT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_FALSE(job.never_sleeps());
  EXPECT_TRUE(probes);
}

TEST(Protocol, SnapshotsTakeTheirIdentityFromTheHello) {
  FakeJob job = Collecting();
  FakeAgent& agent = job.at(0, 3);
  Snapshot snapshot = job.Show(agent);
  snapshot.host = "somebody-else";
  job.Say(agent, wire::SnapshotReply{CollectionOf(agent), snapshot});
  job.Run(absl::Seconds(20));
  ASSERT_EQ(job.concluded().size(), 1u);
  EXPECT_EQ(job.concluded().back().capture.snapshots.back().host, "host-0-3");
}

// A worker that lies, or runs a program of its own, completes launches while the others stand.

TEST(OneAdvances, TheOthersRaiseTheAlarmAllTheSame) {
  FakeJob job = Frozen();
  job.at(0, 3).advancing = true;
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_TRUE(job.Logged("slice 0 task 3 alone advances"));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 4u);
}

// The worker completes launches between the two looks, too.
constexpr absl::Duration kOften = absl::Milliseconds(50);

// The worker's heartbeats show it standing like the others; its answers to questions do not.
TEST(OneAdvances, WhatOneShowsBetweenTheLooksDoesNotSilenceTheOthersForEver) {
  FakeJob job = Frozen();
  job.ShowEffectsTo([&job](const Effect& effect, std::optional<WorkerId> worker) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr || !std::holds_alternative<wire::Collect>(send->message)) return;
    if (worker == WorkerId{0, 3}) ++job.at(0, 3).launch_id;
  });
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
  EXPECT_TRUE(job.Logged("no hang: launches completed between the two looks"));
}

TEST(OneAdvances, OneWorkerOfTwoHostsWithManyIsAnExceptionToo) {
  FakeJob job(Quick(), 1, 8);
  for (int task = 0; task < 8; ++task) {
    FakeAgent& agent = job.at(0, task);
    job.Disconnect(agent);
    agent.address = task < 4 ? "10.0.0.1" : "10.0.0.2";
    job.Connect(agent);
  }
  job.Run(absl::Seconds(20));
  job.Freeze();
  job.at(0, 3).advancing = true;
  EXPECT_TRUE(job.RunUntilConclude(absl::Minutes(1)));
}

TEST(OneAdvances, WorkersOfOneHostAreOneBetweenTheLooksToo) {
  FakeJob job = Frozen();
  for (int task = 4; task < 24; ++task) {
    FakeAgent& ghost = job.Add({0, task});
    ghost.address = "10.9.9.9";
    job.Connect(ghost);
  }
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(2)));
  EXPECT_TRUE(job.Logged("20 more advance") || job.Logged("19 more advance"));
}

// The size of the job bounds how many of its machines may be removed.
TEST(OneAdvances, TheWorkersOfOneHostMakeTheJobNoLarger) {
  FakeJob job(Quick(), 1, 4);
  for (int task = 4; task < 24; ++task) {
    FakeAgent& ghost = job.Add({0, task});
    ghost.address = "10.9.9.9";
    job.Connect(ghost);
  }
  job.Run(absl::Seconds(20));
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Minutes(2)));
  EXPECT_EQ(job.concluded()[0].capture.snapshots.size(), 24u);
  EXPECT_EQ(job.concluded()[0].hosts, 5);
}

// Each alarm led to a look that found the one worker advancing, and put off the next judgement.
TEST(OneAdvances, AlarmsWithoutEndDoNotSilenceTheOthers) {
  FakeJob job = Frozen();
  job.at(0, 3).advancing = true;
  bool concluded = false;
  for (int i = 0; i < 600 && !concluded; ++i) {
    job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "exit"});
    concluded = job.RunUntilConclude(absl::Milliseconds(100), kOften);
  }
  ASSERT_TRUE(concluded);
  EXPECT_EQ(job.concluded()[0].capture.header.trigger, "no-progress");
}

TEST(OneAdvances, AlarmsOfOneThatOnlyItsAnswersShowAdvancingDoNotEither) {
  FakeJob job = Frozen();
  job.ShowEffectsTo([&job](const Effect& effect, std::optional<WorkerId> worker) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr || !std::holds_alternative<wire::Collect>(send->message)) return;
    if (worker == WorkerId{0, 3}) ++job.at(0, 3).launch_id;
  });
  bool concluded = false;
  for (int i = 0; i < 600 && !concluded; ++i) {
    job.Say(job.at(0, 3), wire::Alarm{wire::AlarmKind::kProcessExit, "exit"});
    concluded = job.RunUntilConclude(absl::Milliseconds(100), kOften);
  }
  EXPECT_TRUE(concluded);
}

TEST(OneAdvances, WhatSeveralReportIsNotOutweighed) {
  FakeJob job = Frozen();
  job.at(0, 3).advancing = true;
  for (int task = 0; task < 2; ++task) {
    job.Say(job.at(0, task), wire::Alarm{wire::AlarmKind::kHangLine, "hang detected"});
  }
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(3), kOften));
}

TEST(OneAdvances, WhatOneReportsIsOutweighed) {
  FakeJob job = Frozen();
  job.at(0, 3).advancing = true;
  job.Say(job.at(0, 0), wire::Alarm{wire::AlarmKind::kHangLine, "hang detected"});
  EXPECT_FALSE(job.RunUntilConclude(absl::Seconds(3), kOften));
  EXPECT_TRUE(job.Logged("launches completed between the two looks"));
}

TEST(Snapshots, OneLargerThanAHostCostsItsStream) {
  FakeJob job = Frozen();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(10)));
  FakeJob hostile = Frozen();
  hostile.at(0, 2).answers = false;
  while (!hostile.at(0, 2).memory.has_value()) hostile.Run(absl::Seconds(1));
  wire::SnapshotReply reply;
  reply.collection = 1;
  reply.snapshot = hostile.Show(hostile.at(0, 2));
  reply.snapshot.pcie.resize(kMaxChipsOfWorker + 1);
  hostile.Say(hostile.at(0, 2), wire::SampleReady{1, 1000});
  hostile.Say(hostile.at(0, 2), reply);
  ASSERT_TRUE(hostile.at(0, 2).closed.has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(*hostile.at(0, 2).closed)) << *hostile.at(0, 2).closed;
}

}  // namespace
}  // namespace rapideye::coordinator

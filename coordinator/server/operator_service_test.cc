// Tests of operators' requests, over real gRPC, to a coordinator with agents written by hand.
#include "coordinator/server/operator_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "coordinator/core/limits.h"
#include "coordinator/server/operator_messages.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_reader.h"
#include "tests/support/coordinator_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kId[] = "20261120T124419Z-5dc4d1c8";

struct Received {
  grpc::Status status;
  std::string document;
  std::string capture;
  std::optional<v1::SnapshotResult> result;
};

class OperatorServiceTest : public ::testing::Test, protected RunningCoordinator {
 protected:
  OperatorServiceTest()
      : stub_(v1::Operator::NewStub(
            grpc::CreateChannel(address(), grpc::InsecureChannelCredentials()))) {}

  static Received ReadAll(grpc::ClientReader<v1::DocumentPart>& reader) {
    Received received;
    v1::DocumentPart part;
    while (reader.Read(&part)) {
      received.document += part.document();
      received.capture += part.capture();
      if (part.has_result()) received.result = part.result();
    }
    received.status = reader.Finish();
    return received;
  }
  Received Get(const std::string& id, v1::DocumentForm form = v1::TEXT) {
    grpc::ClientContext context;
    v1::GetIncidentRequest request;
    request.set_id(id);
    request.set_form(form);
    return ReadAll(*stub_->GetIncident(&context, request));
  }
  Received Snapshot(v1::DocumentForm form = v1::TEXT, bool capture = false) {
    grpc::ClientContext context;
    v1::SnapshotRequest request;
    request.set_form(form);
    request.set_capture(capture);
    return ReadAll(*stub_->Snapshot(&context, request));
  }
  grpc::Status Status(v1::GetStatusReply& reply) {
    grpc::ClientContext context;
    return stub_->GetStatus(&context, {}, &reply);
  }
  grpc::Status List(int32_t limit, v1::ListIncidentsReply& reply) {
    grpc::ClientContext context;
    v1::ListIncidentsRequest request;
    request.set_limit(limit);
    return stub_->ListIncidents(&context, request, &reply);
  }
  void Put(const std::string& file, const std::string& bytes) const {
    std::filesystem::create_directories(root_ + "/incidents/" + kId);
    std::ofstream(root_ + "/incidents/" + kId + "/" + file, std::ios::binary) << bytes;
  }
  static int64_t Requested(const v1::GetStatusReply& status) {
    for (const v1::CounterValue& counter : status.counters()) {
      if (counter.name() == "snapshots_requested") return counter.value();
    }
    ADD_FAILURE() << "no such counter";
    return std::numeric_limits<int64_t>::max();
  }
  // Answers the two looks of a collection on this thread.
  static void AnswerTwoLooks(Client& agent) {
    for (int look = 0; look < 2; ++look) {
      v1::CoordinatorMessage message = agent.Read();
      while (message.has_hlo() || message.has_welcome()) message = agent.Read();
      ASSERT_TRUE(message.has_collect()) << message.DebugString();
      ASSERT_TRUE(agent.Write(SnapshotMessage(0, message.collect().collection())));
    }
  }

  std::unique_ptr<v1::Operator::Stub> stub_;
};

TEST_F(OperatorServiceTest, StatusKnowsWhoIsThere) {
  v1::GetStatusReply before;
  ASSERT_TRUE(Status(before).ok());
  EXPECT_EQ(before.job(), "job");
  EXPECT_EQ(before.expected(), 1);
  EXPECT_EQ(before.connected(), 0);
  EXPECT_THAT(before.missing(), SizeIs(1));
  EXPECT_EQ(before.activity(), v1::GetStatusReply::LEARNING);
  EXPECT_THAT(before.version(), testing::Not(IsEmpty()));

  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  v1::GetStatusReply after;
  do {  // a report may be kStatusFresh old, and calls without pause may be refused
    const grpc::Status status = Status(after);
    ASSERT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
        << status.error_code() << ": " << status.error_message();
  } while (after.connected() == 0);
  EXPECT_EQ(after.connected(), 1);
  ASSERT_THAT(after.slowest(), SizeIs(1));
  EXPECT_EQ(after.slowest(0).host(), "host-0");
  EXPECT_THAT(after.missing(), IsEmpty());
}

TEST_F(OperatorServiceTest, ListsWhatIsOnDisk) {
  v1::ListIncidentsReply none;
  ASSERT_TRUE(List(0, none).ok());
  EXPECT_THAT(none.incidents(), IsEmpty());
  Put(kJsonFile, R"({"schemaVersion":1,"cause":"UNKNOWN","culprits":[{"host":"h"}]})");
  v1::ListIncidentsReply one;
  ASSERT_TRUE(List(0, one).ok());
  ASSERT_THAT(one.incidents(), SizeIs(1));
  EXPECT_EQ(one.incidents(0).id(), kId);
  EXPECT_EQ(one.incidents(0).cause(), "UNKNOWN");
  EXPECT_THAT(one.incidents(0).culprits(), ElementsAre("h"));
}

TEST_F(OperatorServiceTest, ANegativeLimitIsRefused) {
  v1::ListIncidentsReply reply;
  EXPECT_EQ(List(-1, reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(List(1, reply).ok());
}

TEST_F(OperatorServiceTest, GivesAnIncidentInParts) {
  const std::string large(3 * kOperatorPartBytes + 17, 'x');
  Put(kTextFile, "text\n");
  Put(kCaptureFile, large);
  const Received text = Get(kId);
  EXPECT_TRUE(text.status.ok());
  EXPECT_EQ(text.document, "text\n");
  EXPECT_EQ(Get(kId, v1::CAPTURE).document, large);
}

TEST_F(OperatorServiceTest, SaysWhyThereIsNoIncident) {
  Put(kTextFile, "text\n");
  for (const char* id : {"", "..", "../../../etc/passwd", "20261120T124419Z-5dc4d1c8/"}) {
    EXPECT_EQ(Get(id).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << id;
  }
  EXPECT_EQ(Get(std::string(1 << 20, 'x')).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Get("20261120T124419Z-00000000").status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Get(kId, static_cast<v1::DocumentForm>(99)).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Get(kId, v1::CAPTURE).status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_TRUE(Get(kId).status.ok());
}

TEST_F(OperatorServiceTest, SnapshotNeedsAnAgent) {
  const Received refused = Snapshot();
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("no agent is connected"));
  EXPECT_EQ(Snapshot(v1::CAPTURE).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorServiceTest, SnapshotBringsVerdictAndCaptureAndStoresNothing) {
  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  auto snapshot = std::async(std::launch::async, [this] { return Snapshot(v1::JSON, true); });
  AnswerTwoLooks(agent);
  const Received received = snapshot.get();
  ASSERT_TRUE(received.status.ok()) << received.status.error_message();
  ASSERT_TRUE(received.result.has_value());
  EXPECT_FALSE(received.result->has_incident_id());
  EXPECT_THAT(received.document, AllOf(StartsWith("{"), HasSubstr("\"trigger\": \"operator\"")));
  std::istringstream bytes(received.capture);
  const absl::StatusOr<Capture> capture = wire::ReadCapture(bytes);
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_THAT(capture->snapshots, SizeIs(1));
  EXPECT_TRUE(std::filesystem::is_empty(root_ + "/incidents"));
}

TEST_F(OperatorServiceTest, SnapshotDuringAnIncidentBringsThatIncident) {
  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  v1::AgentMessage alarm;
  alarm.mutable_alarm()->set_kind(v1::Alarm::HANG_LINE);
  alarm.mutable_alarm()->set_text("Megascale hang detected");
  ASSERT_TRUE(agent.Write(alarm));
  const v1::CoordinatorMessage first = agent.Read();
  ASSERT_TRUE(first.has_collect());
  grpc::ClientContext context;
  const auto reader = stub_->Snapshot(&context, {});
  v1::GetStatusReply status;
  // Waits until the request has reached the core; a caller that asks too often is refused.
  while (!Status(status).ok() || Requested(status) == 0) continue;
  ASSERT_TRUE(agent.Write(SnapshotMessage(0, first.collect().collection())));
  const v1::CoordinatorMessage second = agent.Read();
  ASSERT_TRUE(second.has_collect());
  ASSERT_TRUE(agent.Write(SnapshotMessage(0, second.collect().collection())));
  const Received received = ReadAll(*reader);
  ASSERT_TRUE(received.status.ok()) << received.status.error_message();
  const auto [id, text] = digest_.get_future().get();
  EXPECT_EQ(received.result->incident_id(), id);
  EXPECT_EQ(received.document, text);
}

TEST_F(OperatorServiceTest, AnAcknowledgementIsKeptAndListed) {
  const auto acknowledge = [&](const std::string& id, v1::AcknowledgeReply& reply) {
    grpc::ClientContext context;
    v1::AcknowledgeRequest request;
    request.set_id(id);
    request.set_reason("known \x1b");
    request.set_by("ann@login");
    return stub_->Acknowledge(&context, request, &reply);
  };
  v1::AcknowledgeReply reply;
  EXPECT_EQ(acknowledge("../x", reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(acknowledge(kId, reply).error_code(), grpc::StatusCode::NOT_FOUND);
  Put("digest.json", R"({"schemaVersion": 1, "cause": "UNKNOWN"})");
  const grpc::Status status = acknowledge(kId, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.acknowledged().by(), "ann@login");
  EXPECT_EQ(reply.acknowledged().reason(), "known \\x1b");
  v1::ListIncidentsReply list;
  ASSERT_TRUE(List(0, list).ok());
  ASSERT_THAT(list.incidents(), SizeIs(1));
  EXPECT_EQ(list.incidents(0).acknowledged().by(), "ann@login");
  EXPECT_EQ(list.incidents(0).state(), v1::IncidentSummary::OPEN);
  Put("ended.json", R"({"ended": "2026-11-20T12:46:24Z", "why": "it goes on"})");
  ASSERT_TRUE(List(0, list).ok());
  EXPECT_EQ(list.incidents(0).state(), v1::IncidentSummary::RECOVERED);
  EXPECT_EQ(list.incidents(0).lasted_ms(), 125'000);
  EXPECT_EQ(list.incidents(0).end(), "it goes on");
}

TEST_F(OperatorServiceTest, ACallerWhoLeavesIsForgotten) {
  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  {
    grpc::ClientContext context;
    const auto reader = stub_->Snapshot(&context, {});
    ASSERT_TRUE(agent.Read().has_collect());
    context.TryCancel();
    EXPECT_EQ(ReadAll(*reader).status.error_code(), grpc::StatusCode::CANCELLED);
  }
  v1::GetStatusReply status;
  EXPECT_TRUE(Status(status).ok());
}

TEST_F(OperatorServiceTest, SoManyCallsAtOnceAndNoMore) {
  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  // Snapshots that no agent answers hold their calls; over several connections, since one
  // connection takes only so many calls.
  struct Held {
    grpc::ClientContext context;
    std::unique_ptr<v1::Operator::Stub> stub;
    std::unique_ptr<grpc::ClientReader<v1::DocumentPart>> reader;
  };
  std::vector<std::unique_ptr<Held>> held;
  for (size_t i = 0; i < kMaxSnapshotRequests; ++i) {
    Held& one = *held.emplace_back(std::make_unique<Held>());
    one.reader = stub_->Snapshot(&one.context, {});
  }
  // The core refuses further requests with a reason. A refused call counts as a call, too, until
  // the server has noticed its end.
  v1::GetStatusReply status;
  do {
    const grpc::Status asked = Status(status);
    ASSERT_TRUE(asked.ok() || asked.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
        << asked.error_message();
  } while (Requested(status) < static_cast<int64_t>(kMaxSnapshotRequests));
  const Received refused = Snapshot();
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("try again later"));
  for (auto& one : held) one->context.TryCancel();
  for (auto& one : held) {
    EXPECT_EQ(ReadAll(*one->reader).status.error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(OperatorServiceTest, StopEndsWhatWaits) {
  Client agent(address());
  ASSERT_TRUE(agent.Write(HelloMessage(0)));
  ASSERT_TRUE(agent.Read().has_welcome());
  grpc::ClientContext context;
  const auto reader = stub_->Snapshot(&context, {});
  ASSERT_TRUE(agent.Read().has_collect());
  Stop();
  const Received received = ReadAll(*reader);
  EXPECT_EQ(received.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(received.status.error_message(), HasSubstr("stopping"));
  // The server answers until the coordinator is destroyed.
  EXPECT_EQ(Snapshot().status.error_code(), grpc::StatusCode::UNAVAILABLE);
  v1::ListIncidentsReply none;
  EXPECT_EQ(List(0, none).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(OperatorMessages, EveryCounterHasAName) {
  EXPECT_EQ(NamedCounters({}).size() * sizeof(int64_t), sizeof(Counters));
}

}  // namespace
}  // namespace rapideye::coordinator

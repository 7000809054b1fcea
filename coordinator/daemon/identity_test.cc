// Tests of the right of a certificate to state and ask things, over real mutual TLS.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "proto/capture/capture_reader.h"
#include "proto/transport/channel_options.h"
#include "tests/support/coordinator_fixture.h"
#include "tests/support/test_certificates.h"
#include "v1/operator.grpc.pb.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

// Certificates in a directory of the test's own, each by its name.
class Certificates {
 public:
  Certificates() {
    std::string pattern = fs::temp_directory_path() / "rapideye-certificates-XXXXXX";
    root_ = mkdtemp(pattern.data());
    authority_.WriteCa(Path("ca"));
    Issue("coordinator", "spiffe://job/coordinator");
    Issue("operator", "spiffe://people/ann");
    Issue("agent-0", "spiffe://job/agent/0/0");
    Issue("agent-1", "spiffe://job/agent/0/1");
    // Certificates of a DaemonSet's agents, for the machines of these workers.
    Issue("host-agent-0", "spiffe://job/agent/0/0",
          {"spiffe://hosts/agent", "rapideye://host/host-0"});
    fs::create_directory(Lists());
    authority_.RevokeNobody(Lists());
  }
  ~Certificates() { fs::remove_all(root_); }

  transport::CredentialOptions Of(const std::string& name) const {
    return {.tls_cert = Path(name), .tls_key = Path(name + "-key"), .tls_ca = Path("ca")};
  }
  std::string Lists() const { return root_ + "/crl"; }
  void Revoke(const std::string& name) const { authority_.Revoke(Path(name), Lists()); }

 private:
  std::string Path(const std::string& name) const { return root_ + "/" + name + ".pem"; }
  void Issue(const std::string& name, const std::string& uri,
             const std::vector<std::string>& more = {}) {
    authority_.Issue(Path(name), Path(name + "-key"), uri, 1, "127.0.0.1", more);
  }

  std::string root_;
  transport::TestAuthority authority_{"authority"};
};

std::shared_ptr<grpc::Channel> ChannelOf(const std::string& address,
                                         const transport::CredentialOptions& credentials) {
  return grpc::CreateCustomChannel(address,
                                   transport::MakeChannelCredentials(credentials, address).value(),
                                   transport::AgentChannelArguments());
}

class Agent {
 public:
  Agent(const std::string& address, const transport::CredentialOptions& credentials)
      : stub_(v1::Rendezvous::NewStub(ChannelOf(address, credentials))),
        stream_(stub_->Attach(&context_)) {}
  ~Agent() { context_.TryCancel(); }

  bool Write(const v1::AgentMessage& message) { return stream_->Write(message); }
  v1::CoordinatorMessage Read() {
    v1::CoordinatorMessage message;
    return stream_->Read(&message) ? message : v1::CoordinatorMessage();
  }
  bool SayHello(int task) { return Write(HelloMessage(task)) && Read().has_welcome(); }
  grpc::Status End() {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Rendezvous::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
};

class IdentityTest : public testing::Test, protected Certificates, protected RunningCoordinator {
 protected:
  IdentityTest()
      : RunningCoordinator([this](CoordinatorSettings& settings) {
          settings.credentials = Of("coordinator");
          settings.credentials.tls_crl_dir = Lists();
          settings.certificate_interval = absl::Milliseconds(20);
          settings.core.shape.tasks_per_slice = 2;
          settings.core.identity = {.templates = {"spiffe://job/agent/{slice}/{task}"},
                                    .direct_evidence_from = {"spiffe://hosts/*"}};
          settings.operator_identities = {"spiffe://people/*"};
        }) {}

  struct Asked {
    grpc::Status status;
    std::optional<Capture> capture;
  };
  Asked Snapshot(const std::string& name) {
    const auto stub = v1::Operator::NewStub(ChannelOf(address(), Of(name)));
    grpc::ClientContext context;
    v1::SnapshotRequest request;
    request.set_form(v1::JSON);
    request.set_capture(true);
    const auto reader = stub->Snapshot(&context, request);
    v1::DocumentPart part;
    std::string bytes;
    while (reader->Read(&part)) bytes += part.capture();
    Asked asked{.status = reader->Finish(), .capture = {}};
    std::istringstream stream(bytes);
    if (auto capture = wire::ReadCapture(stream); capture.ok()) asked.capture = *capture;
    return asked;
  }
  // The snapshot of an operator's look at one agent, which claims to be trusted.
  rapideye::Snapshot Look(Agent& agent) {
    auto asked = std::async(std::launch::async, [this] { return Snapshot("operator"); });
    for (int look = 0; look < 2; ++look) {
      v1::CoordinatorMessage message = agent.Read();
      while (message.has_hlo() || message.has_welcome()) message = agent.Read();
      EXPECT_TRUE(message.has_collect()) << message.DebugString();
      v1::AgentMessage reply = SnapshotMessage(0, message.collect().collection());
      v1::Snapshot& snapshot = *reply.mutable_snapshot()->mutable_snapshot();
      snapshot.set_direct_evidence(true);
      snapshot.set_host("somebody-else");
      snapshot.set_node("node-of-somebody-else");
      snapshot.add_pcie()->set_fatal(1);
      EXPECT_TRUE(agent.Write(reply));
    }
    Asked got = asked.get();
    EXPECT_TRUE(got.status.ok()) << got.status.error_message();
    if (!got.capture.has_value() || got.capture->snapshots.size() != 1) {
      ADD_FAILURE() << "not one snapshot";
      return {};
    }
    return got.capture->snapshots.front();
  }
};

TEST_F(IdentityTest, AnAgentSpeaksForTheWorkerOfItsCertificateOnly) {
  Agent thief(address(), Of("agent-1"));
  EXPECT_FALSE(thief.SayHello(0));
  const grpc::Status status = thief.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("'spiffe://job/agent/0/0' of slice 0 task 0"));
  Agent owner(address(), Of("agent-0"));
  EXPECT_TRUE(owner.SayHello(0));
  Agent other(address(), Of("agent-1"));
  EXPECT_TRUE(other.SayHello(1));
}

TEST_F(IdentityTest, WhatAnAgentSaysOfItselfIsNoDirectEvidence) {
  Agent agent(address(), Of("agent-0"));
  ASSERT_TRUE(agent.SayHello(0));
  EXPECT_EQ(Look(agent).direct_evidence, false);
}

TEST_F(IdentityTest, WhomTheOperatorTrustsIsDirectEvidenceOfItsOwnMachine) {
  Agent agent(address(), Of("host-agent-0"));
  ASSERT_TRUE(agent.SayHello(0));
  const rapideye::Snapshot snapshot = Look(agent);
  EXPECT_EQ(snapshot.direct_evidence, true);
  EXPECT_EQ(snapshot.host, "host-0");
  EXPECT_EQ(snapshot.node, std::nullopt);
}

TEST_F(IdentityTest, ACertificateThatNamesAMachineIsOfNoOther) {
  Agent agent(address(), Of("host-agent-0"));
  v1::AgentMessage hello = HelloMessage(0);
  hello.mutable_hello()->set_host("host-7");
  agent.Write(hello);
  EXPECT_EQ(agent.End().error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(IdentityTest, AgentsReadAndAskNothing) {
  for (const char* name : {"agent-0", "coordinator"}) {
    const Asked asked = Snapshot(name);
    EXPECT_EQ(asked.status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << name;
    EXPECT_THAT(asked.status.error_message(), HasSubstr("--operator-identity")) << name;
    const auto stub = v1::Operator::NewStub(ChannelOf(address(), Of(name)));
    grpc::ClientContext status_context;
    v1::GetStatusReply status;
    EXPECT_EQ(stub->GetStatus(&status_context, {}, &status).error_code(),
              grpc::StatusCode::PERMISSION_DENIED);
    grpc::ClientContext list_context;
    v1::ListIncidentsReply list;
    EXPECT_EQ(stub->ListIncidents(&list_context, {}, &list).error_code(),
              grpc::StatusCode::PERMISSION_DENIED);
    grpc::ClientContext incident_context;
    v1::DocumentPart part;
    const auto reader = stub->GetIncident(&incident_context, {});
    EXPECT_FALSE(reader->Read(&part));
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  const auto stub = v1::Operator::NewStub(ChannelOf(address(), Of("operator")));
  grpc::ClientContext context;
  v1::GetStatusReply status;
  EXPECT_TRUE(stub->GetStatus(&context, {}, &status).ok());
}

TEST_F(IdentityTest, OneLookAMinuteForEachWhoAsks) {
  Agent agent(address(), Of("agent-0"));
  ASSERT_TRUE(agent.SayHello(0));
  (void)Look(agent);
  const grpc::Status second = Snapshot("operator").status;
  EXPECT_EQ(second.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(second.error_message(), HasSubstr("may do so once in 1m"));
}

TEST_F(IdentityTest, ARevokedCertificateLosesItsStreamAndGetsNoOther) {
  Agent honest(address(), Of("agent-0"));
  ASSERT_TRUE(honest.SayHello(0));
  Agent stolen(address(), Of("agent-1"));
  ASSERT_TRUE(stolen.SayHello(1));
  Revoke("agent-1");
  const grpc::Status status = stolen.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("revoked"));
  Agent back(address(), Of("agent-1"));
  EXPECT_FALSE(back.SayHello(1));
  EXPECT_THAT(back.End().error_message(), HasSubstr("revoked"));
  // The honest agent is still there: its place is not free.
  Agent again(address(), Of("agent-0"));
  EXPECT_FALSE(again.SayHello(0));
  EXPECT_EQ(again.End().error_code(), grpc::StatusCode::ALREADY_EXISTS);
}

}  // namespace
}  // namespace rapideye::coordinator

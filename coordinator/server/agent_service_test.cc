#include "coordinator/server/agent_service.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/server/event_queue.h"
#include "proto/wire/messages.h"
#include "v1/agent.grpc.pb.h"

namespace rapideye::coordinator {
namespace {

// A server whose messages no core takes, as at the end of a coordinator.
TEST(AgentServiceTest, AStreamWhoseMessageWaitsDoesNotHoldUpTheEnd) {
  EventQueue queue;
  AgentService service(queue);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);

  const auto stub = v1::Rendezvous::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  ASSERT_TRUE(stream->Write(wire::ToWire(wire::AgentMessage(wire::Heartbeat{}))));
  while (!std::holds_alternative<MessageReceived>(*queue.Pop(absl::InfiniteDuration()))) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  server->Wait();
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_EQ(service.streams(), 0u);
}

}  // namespace
}  // namespace rapideye::coordinator

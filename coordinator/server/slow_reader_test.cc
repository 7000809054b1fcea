// A peer that does not read, against the real flow control of HTTP/2.
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "coordinator/core/limits.h"
#include "coordinator/server/agent_service.h"
#include "proto/common/clock/clock.h"
#include "proto/transport/channel_options.h"

namespace rapideye::coordinator {
namespace {

class SlowReaderTest : public ::testing::Test {
 protected:
  SlowReaderTest() : service_(queue_) {
    grpc::ServerBuilder builder;
    transport::ConfigureServer(builder);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::Rendezvous::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                        grpc::InsecureChannelCredentials()));
    stream_ = stub_->Attach(&context_);
    stream_id_ = Next<StreamOpened>().stream;
  }
  ~SlowReaderTest() override {
    context_.TryCancel();
    server_->Shutdown();
  }

  // Returns the next event of this kind.
  template <typename T>
  T Next() {
    for (;;) {
      std::optional<Event> event = queue_.Pop(absl::InfiniteDuration());
      if (auto* found = std::get_if<T>(&*event)) return *found;
    }
  }

  EventQueue queue_;
  AgentService service_;
  std::unique_ptr<grpc::Server> server_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::Rendezvous::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
  StreamId stream_id_ = 0;
};

TEST_F(SlowReaderTest, IsCutOffOnceItsWindowAndQueueAreFull) {
  wire::Welcome large;
  large.job_incarnation = std::string(4096, 'x');
  large.heartbeat_interval = absl::Seconds(1);
  large.attention_after = absl::Seconds(1);
  const absl::Duration end = MonotonicTime() + absl::Seconds(60);
  size_t sent = 0;
  std::optional<Event> event;
  while (!event.has_value() && MonotonicTime() < end) {
    service_.Send(stream_id_, large);
    ++sent;
    // The test sends as fast as the connection takes messages, not faster.
    event = queue_.Pop(MonotonicTime() + absl::Milliseconds(1));
  }
  ASSERT_TRUE(event.has_value());
  ASSERT_TRUE(std::holds_alternative<StreamCutOff>(*event));
  EXPECT_EQ(std::get<StreamCutOff>(*event).stream, stream_id_);
  EXPECT_GT(sent, kMaxSendQueue);
  EXPECT_EQ(Next<StreamClosed>().stream, stream_id_);
}

TEST_F(SlowReaderTest, OneThatReadsGetsEverythingBeforeTheEnd) {
  v1::CoordinatorMessage message;
  constexpr int kMany = 20;  // at once: within the queue
  for (int i = 1; i <= kMany; ++i) service_.Send(stream_id_, wire::Cancel{i});
  service_.Close(stream_id_, absl::UnavailableError("stopping"));
  for (int i = 1; i <= kMany; ++i) {
    ASSERT_TRUE(stream_->Read(&message)) << i;
    EXPECT_EQ(message.cancel().collection(), i);
  }
  EXPECT_FALSE(stream_->Read(&message));
  EXPECT_EQ(stream_->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Next<StreamClosed>().stream, stream_id_);
}

}  // namespace
}  // namespace rapideye::coordinator

// The assembled coordinator against clients written by hand, over real gRPC.
#include "coordinator/shell/coordinator.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "coordinator/limits.h"
#include "proto/transport/channel_options.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

v1::AgentMessage HelloMessage(int task, int64_t incarnation = 10) {
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol_version(1);
  hello.set_job("job");
  hello.mutable_worker()->set_slice(0);
  hello.mutable_worker()->set_task(task);
  hello.set_host("host-" + std::to_string(task));
  hello.set_agent_incarnation(incarnation);
  hello.set_poll_interval_ms(1000);
  return message;
}

// One stream, read and written synchronously.
class Client {
 public:
  explicit Client(const std::string& address)
      : stub_(v1::Rendezvous::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Attach(&context_)) {}

  bool Write(const v1::AgentMessage& message) { return stream_->Write(message); }
  // The next message; an empty one if the stream has ended.
  v1::CoordinatorMessage Read() {
    v1::CoordinatorMessage message;
    if (!stream_->Read(&message)) return {};
    return message;
  }
  // Reads what is left, and how it ended.
  grpc::Status End() {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }
  grpc::Status HangUp() {
    stream_->WritesDone();
    return End();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Rendezvous::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
};

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-coordinator-XXXXXX";
    root_ = mkdtemp(pattern.data());
    CoordinatorSettings settings;
    settings.listen = "127.0.0.1:0";
    settings.state_dir = root_;
    settings.core.shape = {.job = "job", .slices = 1, .tasks_per_slice = 1};
    settings.log_digest = [this](const std::string& id, const std::string& text) {
      digest_.set_value({id, text});
    };
    auto started = Coordinator::Start(std::move(settings));
    EXPECT_TRUE(started.ok()) << started.status();
    coordinator_ = *std::move(started);
    runner_ = std::thread([this] { coordinator_->Run(); });
  }
  ~CoordinatorTest() override {
    Stop();
    fs::remove_all(root_);
  }

  void Stop() {
    if (!runner_.joinable()) return;
    coordinator_->RequestStop();
    runner_.join();
  }

  const std::string& address() const { return coordinator_->address(); }

  std::string root_;
  std::promise<std::pair<std::string, std::string>> digest_;
  std::unique_ptr<Coordinator> coordinator_;
  std::thread runner_;
};

TEST_F(CoordinatorTest, StatesTheRealPort) {
  EXPECT_THAT(address(), HasSubstr("127.0.0.1:"));
  EXPECT_NE(address(), "127.0.0.1:0");
}

TEST_F(CoordinatorTest, WelcomesAWorkerOfTheJob) {
  Client client(address());
  ASSERT_TRUE(client.Write(HelloMessage(0)));
  const v1::CoordinatorMessage welcome = client.Read();
  ASSERT_TRUE(welcome.has_welcome());
  EXPECT_GT(welcome.welcome().attention_after_ms(), 0);
  EXPECT_TRUE(client.HangUp().ok());
}

TEST_F(CoordinatorTest, MalformedMessageNamesTheField) {
  Client client(address());
  v1::AgentMessage hello = HelloMessage(0);
  hello.mutable_hello()->clear_host();
  ASSERT_TRUE(client.Write(hello));
  const grpc::Status status = client.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("hello.host"));
}

TEST_F(CoordinatorTest, MessageBeforeHelloIsRefused) {
  Client client(address());
  v1::AgentMessage message;
  message.mutable_heartbeat();
  ASSERT_TRUE(client.Write(message));
  EXPECT_EQ(client.End().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(CoordinatorTest, MessageOfANewerProtocolIsSkipped) {
  Client client(address());
  ASSERT_TRUE(client.Write(v1::AgentMessage()));
  ASSERT_TRUE(client.Write(HelloMessage(0)));
  EXPECT_TRUE(client.Read().has_welcome());
}

TEST_F(CoordinatorTest, OversizedMessageEndsItsStreamAlone) {
  Client other(address());
  ASSERT_TRUE(other.Write(HelloMessage(0)));
  ASSERT_TRUE(other.Read().has_welcome());
  Client client(address());
  v1::AgentMessage message;
  message.mutable_alarm()->set_text(std::string(transport::kMaxMessageBytes + 1, 'x'));
  client.Write(message);
  EXPECT_FALSE(client.End().ok());
  EXPECT_TRUE(other.HangUp().ok());
}

TEST_F(CoordinatorTest, NewerAgentTakesTheStreamOver) {
  Client old(address());
  ASSERT_TRUE(old.Write(HelloMessage(0, 10)));
  ASSERT_TRUE(old.Read().has_welcome());
  Client young(address());
  ASSERT_TRUE(young.Write(HelloMessage(0, 11)));
  ASSERT_TRUE(young.Read().has_welcome());
  EXPECT_EQ(old.End().error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_TRUE(young.HangUp().ok());
}

TEST_F(CoordinatorTest, HangLineEndsInADigestOnDiskAndInTheLog) {
  Client client(address());
  ASSERT_TRUE(client.Write(HelloMessage(0)));
  ASSERT_TRUE(client.Read().has_welcome());
  v1::AgentMessage alarm;
  alarm.mutable_alarm()->set_kind(v1::Alarm::HANG_LINE);
  alarm.mutable_alarm()->set_text("Megascale hang detected");
  ASSERT_TRUE(client.Write(alarm));
  for (int look = 0; look < 2; ++look) {
    const v1::CoordinatorMessage collect = client.Read();
    ASSERT_TRUE(collect.has_collect()) << look;
    EXPECT_TRUE(collect.collect().credit());
    v1::AgentMessage reply;
    reply.mutable_snapshot()->set_collection(collect.collect().collection());
    v1::Snapshot& snapshot = *reply.mutable_snapshot()->mutable_snapshot();
    snapshot.mutable_worker()->set_slice(0);
    snapshot.mutable_worker()->set_task(0);
    snapshot.set_host("host-0");
    snapshot.mutable_runtime()->set_state(v1::RuntimeHealth::UNAVAILABLE);
    ASSERT_TRUE(client.Write(reply));
  }
  const auto [id, text] = digest_.get_future().get();
  EXPECT_THAT(text, HasSubstr("Full error digest:"));
  for (const char* file : {"capture.jsonl.gz", "digest.json", "digest.txt", "digest.html"}) {
    EXPECT_TRUE(fs::exists(root_ + "/incidents/" + id + "/" + file)) << file;
  }
}

TEST_F(CoordinatorTest, StopClosesTheStreams) {
  Client client(address());
  ASSERT_TRUE(client.Write(HelloMessage(0)));
  ASSERT_TRUE(client.Read().has_welcome());
  Stop();
  EXPECT_EQ(client.End().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(CoordinatorTest, SecondCoordinatorOnThePortIsRefused) {
  CoordinatorSettings settings;
  settings.listen = address();
  settings.state_dir = root_;
  const auto second = Coordinator::Start(std::move(settings));
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address()));
}

TEST(CoordinatorStart, AddressThatOthersCanReachNeedsTlsOrInsecure) {
  CoordinatorSettings settings;
  settings.listen = "[::]:0";
  settings.state_dir = fs::temp_directory_path() / "rapideye-coordinator-none";
  EXPECT_TRUE(absl::IsInvalidArgument(Coordinator::Start(settings).status()));
  settings.credentials.insecure = true;
  EXPECT_TRUE(Coordinator::Start(settings).ok());
  fs::remove_all(settings.state_dir);
}

}  // namespace
}  // namespace rapideye::coordinator

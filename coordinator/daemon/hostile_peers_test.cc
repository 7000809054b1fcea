// Peers that misbehave, over real gRPC, beside agents that do not: whatever the
// former do, the latter's hang is diagnosed in time.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/sync_stream.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/daemon/coordinator.h"
#include "proto/transport/channel_options.h"
#include "proto/transport/credentials.h"
#include "tests/support/test_certificates.h"
#include "v1/agent.grpc.pb.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kHonest = 3;  // agents of tasks 0 to 2
constexpr int kPlace = 3;   // the task that hostile peers may speak for

v1::AgentMessage Hello(int task) {
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol_version(2);
  hello.set_job("job");
  hello.mutable_worker()->set_slice(0);
  hello.mutable_worker()->set_task(task);
  hello.set_host("host-" + std::to_string(task));
  hello.set_agent_incarnation(10);
  hello.set_connection(1);
  hello.set_poll_interval_ms(1000);
  return message;
}

v1::AgentMessage SnapshotOf(int task, int64_t collection) {
  v1::AgentMessage message;
  message.mutable_snapshot()->set_collection(collection);
  v1::Snapshot& snapshot = *message.mutable_snapshot()->mutable_snapshot();
  snapshot.mutable_worker()->set_slice(0);
  snapshot.mutable_worker()->set_task(task);
  snapshot.set_host("host-" + std::to_string(task));
  snapshot.mutable_runtime()->set_state(v1::RuntimeHealth::UNAVAILABLE);
  return message;
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// An agent that does what it is asked, until the coordinator ends.
class HonestAgent {
 public:
  HonestAgent(const std::string& address, int task)
      : task_(task), stub_(v1::Rendezvous::NewStub(Connect(address))) {
    stream_ = stub_->Attach(&context_);
    stream_->Write(Hello(task));
    v1::CoordinatorMessage welcome;
    EXPECT_TRUE(stream_->Read(&welcome) && welcome.has_welcome());
    thread_ = std::thread([this] { Answer(); });
  }
  ~HonestAgent() {
    context_.TryCancel();
    thread_.join();
  }

  void RaiseAlarm() {
    v1::AgentMessage alarm;
    alarm.mutable_alarm()->set_kind(v1::Alarm::HANG_LINE);
    alarm.mutable_alarm()->set_text("Megascale hang detected");
    const std::lock_guard lock(writing_);
    EXPECT_TRUE(stream_->Write(alarm));
  }

 private:
  void Answer() {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
      v1::AgentMessage answer;
      if (message.has_collect() && message.collect().credit()) {
        answer = SnapshotOf(task_, message.collect().collection());
      } else if (message.has_collect()) {
        answer.mutable_sample_ready()->set_collection(message.collect().collection());
        answer.mutable_sample_ready()->set_size_bytes(200);
      } else if (message.has_grant()) {
        answer = SnapshotOf(task_, message.grant().collection());
      } else {
        continue;
      }
      const std::lock_guard lock(writing_);
      stream_->Write(answer);
    }
    const grpc::Status ended = stream_->Finish();
    (void)ended;
  }

  const int task_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::Rendezvous::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
  std::mutex writing_;
  std::thread thread_;
};

// A stream of bytes that may be anything.
class RawStream {
 public:
  explicit RawStream(const std::string& address,
                     grpc_compression_algorithm compression = GRPC_COMPRESS_NONE)
      : context_(compression),
        channel_(Connect(address)),
        method_("/rapideye.v1.Rendezvous/Attach", grpc::internal::RpcMethod::BIDI_STREAMING),
        stream_(
            grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
                channel_.get(), method_, &context_.context)) {}

  bool Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return stream_->Write(grpc::ByteBuffer(&slice, 1));
  }
  bool Write(const v1::AgentMessage& message) { return Write(message.SerializeAsString()); }
  v1::CoordinatorMessage Read() {
    grpc::ByteBuffer buffer;
    v1::CoordinatorMessage message;
    grpc::Slice slice;
    if (stream_->Read(&buffer) && buffer.DumpToSingleSlice(&slice).ok()) {
      message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
    }
    return message;
  }
  grpc::Status End() {
    grpc::ByteBuffer buffer;
    while (stream_->Read(&buffer)) {
    }
    return stream_->Finish();
  }
  void Cancel() { context_.context.TryCancel(); }

 private:
  struct Context {
    explicit Context(grpc_compression_algorithm compression) {
      context.set_compression_algorithm(compression);
    }
    grpc::ClientContext context;
  };
  Context context_;
  std::shared_ptr<grpc::Channel> channel_;
  const grpc::internal::RpcMethod method_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
};

int64_t PeakMemoryKiB() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t value = 0;
    if (word == "VmHWM:" && status >> value) return value;
  }
  return -1;
}

class HostilePeers : public ::testing::Test {
 protected:
  HostilePeers() {
    std::string pattern = fs::temp_directory_path() / "rapideye-hostile-XXXXXX";
    root_ = mkdtemp(pattern.data());
    CoordinatorSettings settings;
    settings.listen = "127.0.0.1:0";
    settings.state_dir = root_;
    settings.core.shape = {.job = "job", .slices = 1, .tasks_per_slice = kHonest + 1};
    settings.core.collect_deadline = absl::Seconds(2);
    settings.log_digest = [this](const std::string&, const std::string& text, const auto&) {
      digest_.set_value(text);
    };
    auto started = Coordinator::Start(std::move(settings));
    EXPECT_TRUE(started.ok()) << started.status();
    coordinator_ = *std::move(started);
    runner_ = std::thread([this] { coordinator_->Run(); });
    for (int task = 0; task < kHonest; ++task) {
      honest_.push_back(std::make_unique<HonestAgent>(address(), task));
    }
  }
  ~HostilePeers() override {
    if (!checked_) ExpectUndisturbed();
    honest_.clear();
    coordinator_->RequestStop();
    runner_.join();
    coordinator_.reset();  // it writes until then
    fs::remove_all(root_);
  }

  const std::string& address() const { return coordinator_->address(); }

  // The honest agents hang, and are diagnosed. At the end of each test, or before.
  void ExpectUndisturbed() {
    checked_ = true;
    std::future<std::string> digest = digest_.get_future();
    honest_[0]->RaiseAlarm();
    ASSERT_EQ(digest.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_THAT(digest.get(), HasSubstr("Full error digest:"));
  }

  // A peer with a place of its own, welcomed.
  std::unique_ptr<RawStream> Welcomed() {
    auto stream = std::make_unique<RawStream>(address());
    EXPECT_TRUE(stream->Write(Hello(kPlace)));
    EXPECT_TRUE(stream->Read().has_welcome());
    return stream;
  }

  void ExpectRefused(RawStream& stream, grpc::StatusCode code, const std::string& why) {
    const grpc::Status status = stream.End();
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(why));
  }

  bool checked_ = false;
  std::string root_;
  std::promise<std::string> digest_;
  std::unique_ptr<Coordinator> coordinator_;
  std::thread runner_;
  std::vector<std::unique_ptr<HonestAgent>> honest_;
};

TEST_F(HostilePeers, UnknownSlice) {
  RawStream stream(address());
  v1::AgentMessage hello = Hello(kPlace);
  hello.mutable_hello()->mutable_worker()->set_slice(7);
  stream.Write(hello);
  ExpectRefused(stream, grpc::StatusCode::INVALID_ARGUMENT, "hello.worker.slice: 7");
}

TEST_F(HostilePeers, PlaceOfAnother) {
  RawStream stream(address());
  stream.Write(Hello(0));
  ExpectRefused(stream, grpc::StatusCode::ALREADY_EXISTS, "already speaks for slice 0 task 0");
}

TEST_F(HostilePeers, SnapshotThatNobodyAskedFor) {
  auto stream = Welcomed();
  stream->Write(SnapshotOf(kPlace, 4711));
  ExpectRefused(*stream, grpc::StatusCode::INVALID_ARGUMENT, "4711 was never begun");
}

TEST_F(HostilePeers, MessagesOutOfOrder) {
  RawStream stream(address());
  stream.Write(SnapshotOf(kPlace, 1));
  ExpectRefused(stream, grpc::StatusCode::FAILED_PRECONDITION, "must be a hello");
}

TEST_F(HostilePeers, WhatIsNoProtobuf) {
  auto stream = Welcomed();
  stream->Write(std::string("\x0f\xff\xff\xff\xff\xff", 6));
  ExpectRefused(*stream, grpc::StatusCode::INVALID_ARGUMENT, "not a protobuf message");
}

TEST_F(HostilePeers, TextThatIsNotUtf8) {
  auto stream = Welcomed();
  stream->Write(std::string("\x32\x04\x12\x02\xff\xfe", 6));  // alarm.text
  ExpectRefused(*stream, grpc::StatusCode::INVALID_ARGUMENT, "not UTF-8");
}

TEST_F(HostilePeers, OversizedMessage) {
  auto stream = Welcomed();
  stream->Write(std::string(transport::kMaxMessageBytes + 1, 'x'));
  EXPECT_FALSE(stream->End().ok());
}

// The message has a thousandth of its size on the wire; gRPC bounds its decompressed size.
TEST_F(HostilePeers, CompressedMessage) {
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    RawStream stream(address(), compression);
    stream.Write(std::string(4 * transport::kMaxMessageBytes, '\0'));
    ExpectRefused(stream, grpc::StatusCode::UNIMPLEMENTED, "disabled");
  }
}

// Eight messages of four million empty objects, two bytes each.
TEST_F(HostilePeers, MessagesThatInflateWhenParsed) {
  constexpr int kStreams = 8;
  constexpr int64_t kBoundKiB = 400 * 1024;  // both ends, in one process
  std::string message = "\x12";              // heartbeat
  const size_t objects = (transport::kMaxMessageBytes - 16) / 2;
  for (size_t length = 2 * objects;; length >>= 7) {
    message += static_cast<char>(length < 0x80 ? length : 0x80 | (length & 0x7f));
    if (length < 0x80) break;
  }
  for (size_t i = 0; i < objects; ++i) message.append("\x3a\x00", 2);  // queue
  const int64_t before = PeakMemoryKiB();
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<RawStream>(address()));
  for (auto& stream : streams) stream->Write(message);
  for (auto& stream : streams) {
    ExpectRefused(*stream, grpc::StatusCode::INVALID_ARGUMENT, "bytes of memory");
  }
  EXPECT_LT(PeakMemoryKiB() - before, kBoundKiB);
}

TEST_F(HostilePeers, Flood) {
  auto stream = Welcomed();
  v1::AgentMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_launches_completed(1);
  while (stream->Write(heartbeat)) {
  }
  ExpectRefused(*stream, grpc::StatusCode::RESOURCE_EXHAUSTED, "messages a second");
}

TEST_F(HostilePeers, FloodOfMessagesOfUnknownKinds) {
  auto stream = Welcomed();
  while (stream->Write(v1::AgentMessage())) {
  }
  ExpectRefused(*stream, grpc::StatusCode::RESOURCE_EXHAUSTED, "messages a second");
}

TEST_F(HostilePeers, ManyStreamsThatSayNothing) {
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int i = 0; i < 100; ++i) streams.push_back(std::make_unique<RawStream>(address()));
  ExpectUndisturbed();
  for (auto& stream : streams) stream->Cancel();
}

TEST_F(HostilePeers, AgentThatNeverAnswers) {
  auto stream = Welcomed();
  ExpectUndisturbed();
  stream->Cancel();
}

TEST_F(HostilePeers, NewerConnectionOfTheSameAgentReplacesAHalfOpenOne) {
  auto old = Welcomed();
  RawStream young(address());
  v1::AgentMessage hello = Hello(kPlace);
  hello.mutable_hello()->set_connection(2);
  young.Write(hello);
  EXPECT_TRUE(young.Read().has_welcome());
  ExpectRefused(*old, grpc::StatusCode::ALREADY_EXISTS, "a newer connection");
  young.Cancel();
}

// With certificates: the names that may attach.
TEST(ForeignIdentity, IsRefusedWithTheReasonAndOthersAreNot) {
  std::string pattern = fs::temp_directory_path() / "rapideye-identity-XXXXXX";
  const std::string root = mkdtemp(pattern.data());
  transport::TestAuthority authority("authority");
  const auto path = [&root](const std::string& name) { return root + "/" + name + ".pem"; };
  authority.WriteCa(path("ca"));
  authority.Issue(path("coordinator"), path("coordinator-key"), "spiffe://job/coordinator");
  authority.Issue(path("agent"), path("agent-key"), "spiffe://job/agent/0");
  authority.Issue(path("other"), path("other-key"), "spiffe://another-job/agent/0");
  CoordinatorSettings settings;
  settings.listen = "127.0.0.1:0";
  settings.state_dir = root;
  settings.credentials = {.tls_cert = path("coordinator"),
                          .tls_key = path("coordinator-key"),
                          .tls_ca = path("ca"),
                          .insecure = false,
                          .identities = {"spiffe://job/agent/*"}};
  auto coordinator = Coordinator::Start(std::move(settings));
  ASSERT_TRUE(coordinator.ok()) << coordinator.status();
  std::thread runner([&coordinator] { (*coordinator)->Run(); });

  int64_t connection = 0;
  const auto attach = [&](const std::string& name) {
    const std::string& address = (*coordinator)->address();
    const auto credentials =
        transport::MakeChannelCredentials({.tls_cert = path(name),
                                           .tls_key = path(name + "-key"),
                                           .tls_ca = path("ca"),
                                           .insecure = false,
                                           .identities = {"spiffe://job/coordinator"}},
                                          address);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    const auto stub = v1::Rendezvous::NewStub(
        grpc::CreateCustomChannel(address, *credentials, transport::AgentChannelArguments()));
    grpc::ClientContext context;
    const auto stream = stub->Attach(&context);
    v1::AgentMessage hello = Hello(0);
    hello.mutable_hello()->set_connection(++connection);
    stream->Write(hello);
    v1::CoordinatorMessage welcome;
    const bool welcomed = stream->Read(&welcome) && welcome.has_welcome();
    stream->WritesDone();
    while (stream->Read(&welcome)) {
    }
    const grpc::Status status = stream->Finish();
    return std::pair(welcomed, status);
  };
  EXPECT_TRUE(attach("agent").first);
  const auto [welcomed, status] = attach("other");
  EXPECT_FALSE(welcomed);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("spiffe://another-job/agent/0"));
  EXPECT_TRUE(attach("agent").first);
  (*coordinator)->RequestStop();
  runner.join();
  coordinator->reset();
  fs::remove_all(root);
}

// The coordinator understands one version in either direction.
TEST_F(HostilePeers, AgentOfTheNextProtocolIsUnderstood) {
  RawStream stream(address());
  v1::AgentMessage hello = Hello(kPlace);
  hello.mutable_hello()->set_protocol_version(3);
  hello.mutable_hello()
      ->GetReflection()
      ->MutableUnknownFields(hello.mutable_hello())
      ->AddLengthDelimited(99, "of a later day");
  v1::AgentMessage unknown;
  unknown.GetReflection()->MutableUnknownFields(&unknown)->AddLengthDelimited(99, "what is this");
  stream.Write(hello);
  const v1::CoordinatorMessage welcome = stream.Read();
  EXPECT_EQ(welcome.welcome().protocol_version(), 2);
  stream.Write(unknown);
  v1::AgentMessage alarm;
  alarm.mutable_alarm()->set_text("still there");
  EXPECT_TRUE(stream.Write(alarm));
  EXPECT_TRUE(stream.Read().has_collect());
  stream.Cancel();
}

TEST_F(HostilePeers, AgentTwoVersionsAheadIsToldWhy) {
  RawStream stream(address());
  v1::AgentMessage hello = Hello(kPlace);
  hello.mutable_hello()->set_protocol_version(4);
  stream.Write(hello);
  ExpectRefused(stream, grpc::StatusCode::FAILED_PRECONDITION, "4 is not spoken here (1 to 3)");
}

}  // namespace
}  // namespace rapideye::coordinator

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "agent/daemon/sampler.h"
#include "agent/sources/runtime/fetch.h"
#include "agent/sources/runtime/limits.h"
#include "proto/transport/channel_options.h"
#include "tests/support/fake_runtime.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr absl::Duration kEnough = absl::Seconds(30);
constexpr absl::Duration kShort = absl::Milliseconds(200);

tpu::monitoring::runtime::GetTpuRuntimeStatusResponse OneCore() {
  tpu::monitoring::runtime::GetTpuRuntimeStatusResponse response;
  (*response.mutable_core_states())[0].set_launch_id(7);
  return response;
}

// A socket that listens, and of which nobody ever takes a connection: what a
// stopped process looks like from outside.
class DeafSocket {
 public:
  DeafSocket() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    listen(fd_, 16);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~DeafSocket() { close(fd_); }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  int fd_;
  int port_ = 0;
};

TEST(RuntimeClientTest, AServingRuntime) {
  FakeRuntime runtime;
  runtime.AnswerWith(OneCore());
  RuntimeClient client(runtime.address());
  const RuntimeReading reading = ReadRuntime(client, false, kEnough);
  EXPECT_EQ(reading.health.state, RuntimeState::kServing);
  ASSERT_TRUE(reading.sample.has_value());
  EXPECT_THAT(reading.sample->cores, SizeIs(1));
}

TEST(RuntimeClientTest, AnAbsentRuntime) {
  const ReservedPort nobody;
  RuntimeClient client(absl::StrCat("127.0.0.1:", nobody.port()));
  EXPECT_EQ(ReadRuntime(client, false, kEnough).health.state, RuntimeState::kUnavailable);
}

TEST(RuntimeClientTest, ARuntimeThatDies) {
  FakeRuntime runtime;
  runtime.AnswerWith(OneCore());
  RuntimeClient client(runtime.address());
  EXPECT_EQ(ReadRuntime(client, false, kEnough).health.state, RuntimeState::kServing);
  runtime.Stop();
  EXPECT_EQ(ReadRuntime(client, false, kEnough).health.state, RuntimeState::kUnavailable);
}

TEST(RuntimeClientTest, AHangingRuntime) {
  FakeRuntime runtime;
  runtime.Hang();
  RuntimeClient client(runtime.address());
  EXPECT_EQ(ReadRuntime(client, false, kShort).health.state, RuntimeState::kTimedOut);
  runtime.AnswerWith(OneCore());
  EXPECT_EQ(ReadRuntime(client, false, kEnough).health.state, RuntimeState::kServing);
}

TEST(RuntimeClientTest, AStoppedProcessTimesOutEveryTime) {
  const DeafSocket socket;
  RuntimeClient client(socket.address());
  // The same holds after the time in which gRPC gives up other attempts to connect.
  const absl::Duration patience = absl::Milliseconds(transport::kMaxReconnectMs) + kShort;
  EXPECT_EQ(ReadRuntime(client, false, patience).health.state, RuntimeState::kTimedOut);
  EXPECT_EQ(ReadRuntime(client, false, kShort).health.state, RuntimeState::kTimedOut);
}

TEST(RuntimeClientTest, ARuntimeThatIsTooOld) {
  FakeRuntime runtime;
  runtime.FailWith(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no such method"));
  RuntimeClient client(runtime.address());
  EXPECT_EQ(ReadRuntime(client, false, kEnough).health.state, RuntimeState::kUnimplemented);
}

TEST(RuntimeClientTest, ARuntimeThatTalksNonsense) {
  FakeRuntime runtime;
  runtime.AnswerWith(std::string(100, '\xff'));
  RuntimeClient client(runtime.address());
  const RuntimeReading reading = ReadRuntime(client, false, kEnough);
  EXPECT_EQ(reading.health.state, RuntimeState::kServing);
  EXPECT_THAT(reading.health.detail, Optional(HasSubstr("is not a GetTpuRuntimeStatusResponse")));
  EXPECT_FALSE(reading.sample.has_value());
}

TEST(RuntimeClientTest, ARuntimeThatTalksTooMuch) {
  FakeRuntime runtime;
  RuntimeClient client(runtime.address());
  for (const size_t size : {kMaxStatusBytes + 1, size_t{20} * 1024 * 1024}) {
    runtime.AnswerWith(std::string(size, '\xff'));
    const RuntimeReading reading = ReadRuntime(client, false, kEnough);
    EXPECT_EQ(reading.health.state, RuntimeState::kServing);
    EXPECT_THAT(reading.health.detail, Optional(HasSubstr("too large")));
  }
  // An answer with HLO may be as large as a message may.
  auto response = OneCore();
  response.mutable_core_states()->at(0).add_sequencer_info()->set_hlo_location(
      std::string(kMaxStatusBytes, 'x'));
  runtime.AnswerWith(response);
  EXPECT_TRUE(ReadRuntime(client, true, kEnough).sample.has_value());
}

TEST(RuntimeClientTest, CancelEndsACallThatHangs) {
  FakeRuntime runtime;
  runtime.Hang();
  RuntimeClient client(runtime.address());
  absl::StatusOr<std::string> answer;
  std::thread caller([&] { answer = client.Fetch(false, absl::Hours(1)); });
  client.Cancel();
  caller.join();
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace rapideye::agent

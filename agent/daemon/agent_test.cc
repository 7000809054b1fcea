#include "agent/daemon/agent.h"

#include <gmock/gmock.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "agent/daemon/once.h"
#include "agent/sources/nic/fetch.h"
#include "agent/sources/nic/parse.h"
#include "agent/sources/probe/limits.h"
#include "tests/support/fake_coordinator.h"
#include "tests/support/fake_runtime.h"

namespace rapideye::agent {
namespace {

using v1::AgentMessage;
using v1::RuntimeHealth;

AgentSettings Settings() {
  AgentSettings settings;
  settings.hello.job = "job";
  settings.hello.worker = {1, 2};
  settings.hello.host = "host-1-2";
  settings.hello.agent_incarnation = 17;
  settings.hello.poll_interval = absl::Milliseconds(50);
  settings.hello.version = "test";
  settings.hello.addresses = ReachableAddresses(ListNics());
  return settings;
}

tpu::monitoring::runtime::GetTpuRuntimeStatusResponse OneCore(int launch_id) {
  tpu::monitoring::runtime::GetTpuRuntimeStatusResponse response;
  auto& core = (*response.mutable_core_states())[0];
  core.mutable_core_id()->set_chip_id(0);
  core.set_program_fingerprint("\xab");
  core.set_launch_id(launch_id);
  core.add_sequencer_info()->set_pc(5);
  return response;
}

bool HasRuntimeState(const AgentMessage& message, RuntimeHealth::State state) {
  return message.has_heartbeat() && message.heartbeat().runtime().state() == state;
}

v1::CoordinatorMessage Collect(int64_t number, int64_t deadline_ms) {
  v1::CoordinatorMessage message;
  message.mutable_collect()->set_collection(number);
  message.mutable_collect()->set_credit(true);
  message.mutable_collect()->set_deadline_ms(deadline_ms);
  return message;
}

HostOptions Host(const std::string& runtime) {
  HostOptions host;
  host.runtime = runtime;
  return host;
}

// An agent between a fake runtime and a fake coordinator.
class AgentTest : public testing::Test {
 protected:
  void Start() {
    runtime_.AnswerWith(OneCore(1));
    agent_ = std::make_unique<Agent>(AgentOptions{Settings(),
                                                  Host(runtime_.address()),
                                                  {{log_}, false},
                                                  {kProbePort, kProbeTime},
                                                  coordinator_.address(),
                                                  grpc::InsecureChannelCredentials(),
                                                  state_});
    thread_ = std::thread([this] { agent_->Run(); });
  }

  ~AgentTest() override {
    Stop();
    std::remove(log_.c_str());
    std::filesystem::remove_all(state_dir_);
  }

  void Stop() {
    if (agent_ == nullptr) return;
    agent_->Stop();
    thread_.join();
    agent_.reset();
  }

  bool AwaitState(RuntimeHealth::State state) {
    return coordinator_.Await([state](const AgentMessage& m) { return HasRuntimeState(m, state); })
        .has_value();
  }

  const std::string log_ = testing::TempDir() + "training-" + std::to_string(getpid()) + ".log";
  const std::string state_dir_ = testing::TempDir() + "state-" + std::to_string(getpid());
  std::optional<StateFile> state_;
  FakeRuntime runtime_;
  FakeCoordinator coordinator_;
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
};

TEST_F(AgentTest, TellsTheCoordinatorOfProgress) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(AwaitState(RuntimeHealth::SERVING));
  runtime_.AnswerWith(OneCore(4));
  const auto message = coordinator_.Await([](const AgentMessage& m) {
    return m.has_heartbeat() && m.heartbeat().launches_completed() == 3;
  });
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(message->heartbeat().launch_in_flight());
  ASSERT_EQ(message->heartbeat().programs_size(), 1);
  EXPECT_EQ(message->heartbeat().programs(0).fingerprint(), "ab");
}

TEST_F(AgentTest, ReportsEveryStateOfTheRuntimeAndGoesOn) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  EXPECT_TRUE(AwaitState(RuntimeHealth::SERVING));
  runtime_.FailWith(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""));
  EXPECT_TRUE(AwaitState(RuntimeHealth::UNIMPLEMENTED));
  runtime_.Hang();
  EXPECT_TRUE(AwaitState(RuntimeHealth::TIMED_OUT));
  runtime_.AnswerWith("\xff\xff nonsense");
  EXPECT_TRUE(coordinator_
                  .Await([](const AgentMessage& m) {
                    return HasRuntimeState(m, RuntimeHealth::SERVING) &&
                           m.heartbeat().runtime().has_detail();
                  })
                  .has_value());
  runtime_.Stop();
  EXPECT_TRUE(AwaitState(RuntimeHealth::UNAVAILABLE));
  FakeRuntime next(runtime_.port());
  next.AnswerWith(OneCore(1));
  EXPECT_TRUE(AwaitState(RuntimeHealth::SERVING));
}

TEST_F(AgentTest, AnswersACollectionWhileTheRuntimeHangs) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(AwaitState(RuntimeHealth::SERVING));
  runtime_.Hang();
  ASSERT_TRUE(coordinator_.Send(Collect(5, 400)));
  const auto message = coordinator_.Await([](const AgentMessage& m) { return m.has_snapshot(); });
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->snapshot().collection(), 5);
  EXPECT_EQ(message->snapshot().snapshot().worker().task(), 2);
  EXPECT_EQ(message->snapshot().snapshot().cores_size(), 1);
}

TEST_F(AgentTest, AHangLineInTheLogRaisesTheAlarm) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  std::ofstream(log_) << "Megascale hang detected: Timed out waiting for 4 graphs to complete at "
                         "launch_id 7. Already completed: 1. StepGloballyInProgress: true. "
                         "Timeout: 1m\n";
  const auto message = coordinator_.Await([](const AgentMessage& m) { return m.has_alarm(); });
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->alarm().kind(), v1::Alarm::HANG_LINE);
}

// Its runtime, its log and its process show secrets; what it sends holds none, and
// neither does what it keeps on disk.
TEST_F(AgentTest, NothingSecretLeavesTheHost) {
  const std::string secret = "hunter2";
  const std::string token = absl::StrCat("hf_", std::string(34, 'Q'));
  StateFile file(state_dir_, Settings().hello);
  state_ = file;
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(AwaitState(RuntimeHealth::SERVING));
  std::string said;
  const auto listen = [&](const AgentMessage& message) { said += message.DebugString(); };
  std::ofstream(log_) << "Megascale hang detected: Timed out waiting for 4 graphs to complete at "
                         "launch_id 7. Already completed: 1. StepGloballyInProgress: true. "
                         "Timeout: 1m; reading https://alice:"
                      << secret << "@data.example/x with " << token << "\n";
  const auto alarm = coordinator_.Await([&](const AgentMessage& m) {
    listen(m);
    return m.has_alarm();
  });
  ASSERT_TRUE(alarm.has_value());
  EXPECT_THAT(alarm->alarm().text(), testing::HasSubstr("https://[redacted]@data.example/x"));
  runtime_.FailWith(
      grpc::Status(grpc::StatusCode::INTERNAL, "libtpu --api_key=" + secret + ": Bearer " + token));
  ASSERT_TRUE(coordinator_.Await([&](const AgentMessage& m) {
    listen(m);
    return m.has_heartbeat() &&
           m.heartbeat().runtime().detail().find("[redacted]") != std::string::npos;
  }));
  v1::CoordinatorMessage collect = Collect(1, 5'000);
  collect.mutable_collect()->set_incident("20260131T235959Z-0123abcd");
  ASSERT_TRUE(coordinator_.Send(collect));
  const auto snapshot = coordinator_.Await([&](const AgentMessage& m) {
    listen(m);
    return m.has_snapshot();
  });
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_GE(snapshot->snapshot().snapshot().log_events_size(), 1);
  EXPECT_THAT(said, testing::HasSubstr("api_key=[redacted]"));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr(secret)));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr(token)));
  Stop();
  std::ifstream in(file.path());
  const std::string kept((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(kept, testing::HasSubstr("20260131T235959Z-0123abcd"));
  EXPECT_THAT(kept, testing::Not(testing::HasSubstr(secret)));
}

TEST_F(AgentTest, ComesBackToACoordinatorThatHangsUp) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(AwaitState(RuntimeHealth::SERVING));
  coordinator_.HangUp();
  ASSERT_TRUE(coordinator_.Welcome());
  EXPECT_TRUE(AwaitState(RuntimeHealth::SERVING));
}

TEST_F(AgentTest, LeavesACoordinatorThatBreaksARule) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(coordinator_.Send(Collect(5, -1)));
  EXPECT_TRUE(coordinator_.Welcome());  // a new stream, a new Hello
  ASSERT_TRUE(coordinator_.Send(Collect(5, 10'000)));
  EXPECT_TRUE(coordinator_.Await([](const AgentMessage& m) { return m.has_snapshot(); }));
}

TEST_F(AgentTest, SkipsMessagesOfANewerProtocol) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(coordinator_.Send({}));
  ASSERT_TRUE(coordinator_.Send(Collect(5, 10'000)));
  EXPECT_TRUE(coordinator_.Await([](const AgentMessage& m) { return m.has_snapshot(); }));
}

// Daemons of both kinds speak one version back (every other test here) and one forward.
TEST_F(AgentTest, UnderstandsACoordinatorOfTheNextProtocol) {
  Start();
  const auto hello = coordinator_.Await([](const AgentMessage& m) { return m.has_hello(); });
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->hello().protocol_version(), wire::kProtocolVersion);
  EXPECT_EQ(hello->hello().connection(), 1);
  v1::CoordinatorMessage welcome;
  welcome.mutable_welcome()->set_protocol_version(wire::kNewestProtocolVersion);
  welcome.mutable_welcome()->set_heartbeat_interval_ms(60'000);
  welcome.mutable_welcome()->set_attention_after_ms(60'000);
  welcome.mutable_welcome()
      ->GetReflection()
      ->MutableUnknownFields(welcome.mutable_welcome())
      ->AddVarint(99, 1);
  ASSERT_TRUE(coordinator_.Send(welcome));
  v1::CoordinatorMessage unknown;
  unknown.GetReflection()->MutableUnknownFields(&unknown)->AddLengthDelimited(99, "later");
  ASSERT_TRUE(coordinator_.Send(unknown));
  ASSERT_TRUE(coordinator_.Send(Collect(5, 400)));
  EXPECT_TRUE(
      coordinator_.Await([](const AgentMessage& m) { return m.has_snapshot(); }).has_value());
}

TEST_F(AgentTest, TheNextAgentOfTheSameProcessRemembersTheIncident) {
  state_.emplace(state_dir_, Settings().hello);
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  ASSERT_TRUE(AwaitState(RuntimeHealth::SERVING));
  v1::CoordinatorMessage collect = Collect(5, 400);
  collect.mutable_collect()->set_incident("20260131T235959Z-0123abcd");
  ASSERT_TRUE(coordinator_.Send(collect));
  ASSERT_TRUE(
      coordinator_.Await([](const AgentMessage& m) { return m.has_snapshot(); }).has_value());
  Stop();
  Start();
  const auto hello = coordinator_.Await([](const AgentMessage& m) { return m.has_hello(); });
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->hello().incident().incident(), "20260131T235959Z-0123abcd");
}

TEST_F(AgentTest, StopsInTheMiddleOfAFlood) {
  Start();
  ASSERT_TRUE(coordinator_.Welcome());
  // The agent may leave a coordinator that talks and does not read.
  const auto flood = [this] {
    for (int i = 0; i < 1'000 && coordinator_.Send(Collect(i, 10'000)); ++i) continue;
  };
  flood();
  agent_->Stop();
  flood();
  thread_.join();
  agent_.reset();
}

TEST_F(AgentTest, StopsAlthoughTheRuntimeHangsAndTheCoordinatorIsSilent) {
  Start();
  runtime_.Hang();
  ASSERT_TRUE(coordinator_.Await([](const AgentMessage& m) { return m.has_hello(); }));
  agent_->Stop();
  agent_->Stop();
  thread_.join();
  agent_.reset();
}

nlohmann::json Once(const std::string& runtime) {
  const absl::StatusOr<std::string> line = SampleOnce(Settings(), Host(runtime));
  EXPECT_TRUE(line.ok()) << line.status();
  return line.ok() ? nlohmann::json::parse(*line) : nlohmann::json();
}

TEST(SampleOnceTest, PrintsOneLineOfACapture) {
  FakeRuntime runtime;
  runtime.AnswerWith(OneCore(7));
  const nlohmann::json snapshot = Once(runtime.address()).at("snapshot");
  EXPECT_EQ(snapshot.at("host"), "host-1-2");
  EXPECT_EQ(snapshot.at("worker").at("slice"), 1);
  EXPECT_EQ(snapshot.at("runtime").at("state"), "SERVING");
  EXPECT_EQ(snapshot.at("cores").at(0).at("launchId"), 7);
  // The fake runtime listens in this very process.
  EXPECT_EQ(snapshot.at("processes").at(0).at("pid"), getpid());
}

TEST(SampleOnceTest, AnAbsentRuntimeIsWhatTheHostSays) {
  FakeRuntime runtime;
  runtime.Stop();
  const nlohmann::json snapshot = Once(runtime.address()).at("snapshot");
  EXPECT_EQ(snapshot.at("runtime").at("state"), "UNAVAILABLE");
}

}  // namespace
}  // namespace rapideye::agent

// The assembled coordinator against clients written by hand, over real gRPC.
#include "coordinator/daemon/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "coordinator/core/limits.h"
#include "coordinator/removal/worker/removal_record.h"
#include "proto/transport/channel_options.h"
#include "tests/support/coordinator_fixture.h"
#include "tests/support/http_client.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CoordinatorTest : public ::testing::Test, protected RunningCoordinator {};

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

// A worker that reports a hang line, and answers both looks.
void ReportHang(Client& client) {
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
    ASSERT_TRUE(client.Write(SnapshotMessage(0, collect.collect().collection())));
  }
}

// The start fails in time: it touches no state of another coordinator, and leaves none behind.
TEST(CoordinatorStart, ThatFailsLeavesNothingBehind) {
  std::string pattern = fs::temp_directory_path() / "rapideye-coordinator-XXXXXX";
  const std::string root = mkdtemp(pattern.data());
  CoordinatorSettings settings;
  settings.listen = "192.0.2.1:1";  // an address that no host has (RFC 5737)
  settings.credentials.insecure = true;
  settings.state_dir = root + "/state";
  EXPECT_FALSE(Coordinator::Start(std::move(settings)).ok());
  EXPECT_FALSE(fs::exists(root + "/state"));
  fs::remove_all(root);
}

TEST_F(CoordinatorTest, AnotherOneOnTheSameDirectoryEndsAndSaysWhy) {
  CoordinatorSettings settings;
  settings.listen = "127.0.0.1:0";
  settings.state_dir = root_;
  settings.predecessor_patience = absl::ZeroDuration();
  const auto second = Coordinator::Start(std::move(settings));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another coordinator works there"));
  Destroy();
  settings = CoordinatorSettings();
  settings.listen = "127.0.0.1:0";
  settings.state_dir = root_;
  EXPECT_TRUE(Coordinator::Start(std::move(settings)).ok());
}

TEST_F(CoordinatorTest, HangLineEndsInADigestOnDiskAndInTheLog) {
  Client client(address());
  ReportHang(client);
  const auto [id, text] = digest_.get_future().get();
  EXPECT_THAT(text, HasSubstr("Full error digest:"));
  for (const char* file : {"capture.jsonl.gz", "digest.json", "digest.txt", "digest.html"}) {
    EXPECT_TRUE(fs::exists(root_ + "/incidents/" + id + "/" + file)) << file;
  }
}

// A coordinator with a hook that signals when it runs, and ignores the request to end.
class CoordinatorWithAHook : public ::testing::Test {
 protected:
  static std::string MakeHook() {
    std::string pattern = fs::temp_directory_path() / "rapideye-hook-XXXXXX";
    const std::string directory = mkdtemp(pattern.data());
    std::ofstream(directory + "/hook")
        << "#!/bin/sh\ntrap '' TERM\necho runs >\"$0.says\"\nread never <\"$0.says\"\n";
    fs::permissions(directory + "/hook", fs::perms::owner_all);
    mkfifo((directory + "/hook.says").c_str(), 0600);
    return directory;
  }
  ~CoordinatorWithAHook() override { fs::remove_all(hook_directory_); }

  const std::string hook_directory_ = MakeHook();
};

TEST_F(CoordinatorWithAHook, EndsAlthoughTheHookWillNotAndHasItRunAgain) {
  RunningCoordinator coordinator([&](CoordinatorSettings& settings) {
    settings.removal.hooks = {hook_directory_ + "/hook"};
    settings.removal.policy.mode = RemovalMode::kOff;
  });
  Client client(coordinator.address());
  ReportHang(client);
  std::string says;
  std::ifstream(hook_directory_ + "/hook.says") >> says;
  EXPECT_EQ(says, "runs");
  coordinator.Destroy();
  std::ifstream file(coordinator.state_dir() + "/incidents/" + coordinator.Digest().first +
                     "/hooks.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<Task> tasks = ParseRemovalRecord(text)->hooks;
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].state, "due");
  EXPECT_EQ(tasks[0].attempts, 1);
  EXPECT_THAT(tasks[0].outcome, HasSubstr("was interrupted"));
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

TEST_F(CoordinatorTest, ServesItsPages) {
  Client client(address());
  ASSERT_TRUE(client.Write(HelloMessage(0)));
  ASSERT_TRUE(client.Read().has_welcome());
  const std::string http = http_address();
  EXPECT_THAT(http::Ask(http, "GET", "/"), HasSubstr("<b>1 of 1</b>workers connected"));
  EXPECT_THAT(http::Ask(http, "GET", "/metrics"),
              AllOf(HasSubstr("\nrapideye_coordinator_workers_connected 1\n"),
                    HasSubstr("\nrapideye_coordinator_streams 1\n"),
                    HasSubstr("\nrapideye_coordinator_hellos_admitted_total 1\n")));
  EXPECT_THAT(http::Ask(http, "GET", "/healthz"), HasSubstr("200 OK"));
  EXPECT_THAT(http::Ask(http, "GET", "/incidents"), HasSubstr("None."));
  EXPECT_TRUE(client.HangUp().ok());
}

TEST_F(CoordinatorTest, ScrapersThatHangDoNotHoldUpTheEnd) {
  const http::Client silent(http_address());
  const http::Client slow(http_address());
  slow.Send("GET /met");
  Destroy();
  EXPECT_EQ(slow.ReadAll(), "");
}

TEST_F(CoordinatorTest, PortOfThePagesThatIsTakenIsFatalOnlyIfAskedFor) {
  CoordinatorSettings settings;
  settings.listen = "127.0.0.1:0";
  settings.state_dir = root_ + "/of-its-own";
  settings.http = http_address();
  {
    const auto second = Coordinator::Start(settings);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ((*second)->http_address(), "");
  }
  settings.http_required = true;
  const auto third = Coordinator::Start(settings);
  EXPECT_TRUE(absl::IsUnavailable(third.status()));
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("--http"));
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

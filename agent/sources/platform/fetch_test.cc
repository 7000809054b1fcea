#include "agent/sources/platform/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/http/http_server.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A platform that answers with these documents, and with 404 otherwise.
class FakePlatform {
 public:
  explicit FakePlatform(std::map<std::string, http::Response> documents)
      : documents_(std::move(documents)) {
    server_ =
        *http::HttpServer::Start({.address = "127.0.0.1:0"}, [this](const http::Request& request) {
          const auto found = documents_.find(request.path);
          if (found != documents_.end()) return found->second;
          http::Response missing;
          missing.status = 404;
          return missing;
        });
  }
  const std::string& address() const { return server_->address(); }

 private:
  const std::map<std::string, http::Response> documents_;
  std::unique_ptr<http::HttpServer> server_;
};

http::Response Document(const std::string& body, int status = 200) {
  http::Response response;
  response.status = status;
  response.body = body;
  return response;
}

class PlatformTest : public testing::Test {
 protected:
  PlatformTest() {
    fs::create_directories(folder_);
    Write("token", "secret\n");
    Write("namespace", "training");
    options_.account_folder = folder_;
    options_.node = "node-1";
    options_.pod = "pod-1";
  }
  ~PlatformTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  void Program(const std::string& text) {
    options_.scontrol = folder_ + "/scontrol";
    Write("scontrol", "#!/bin/sh\n" + text + "\n");
    fs::permissions(options_.scontrol, fs::perms::all);
    options_.names = {kSlurm};
  }

  const std::string folder_ = testing::TempDir() + absl::StrCat("platform-", getpid());
  PlatformOptions options_;
};

TEST_F(PlatformTest, TheMetadataServer) {
  const std::string instance = "/computeMetadata/v1/instance/";
  const FakePlatform platform({{instance + "preempted", Document("TRUE")},
                               {instance + "maintenance-event", Document("NONE")}});
  options_.names = {kComputeEngine};
  options_.metadata_server = platform.address();
  const PlatformReading reading = AskPlatforms(options_, absl::Now());
  EXPECT_EQ(reading.unavailable, "");
  ASSERT_THAT(reading.events, SizeIs(1));
  EXPECT_EQ(reading.events[0].kind, LogKind::kPreempted);
}

TEST_F(PlatformTest, AMachineElsewhereHasNoMetadataServer) {
  const FakePlatform platform({});
  options_.names = {kComputeEngine};
  options_.metadata_server = platform.address();
  const PlatformReading reading = AskPlatforms(options_, absl::Now());
  EXPECT_THAT(reading.unavailable, HasSubstr("status 404"));
  EXPECT_THAT(reading.events, IsEmpty());
}

TEST_F(PlatformTest, TheApiServerAndTheRightsThatAreMissing) {
  const FakePlatform platform(
      {{"/api/v1/nodes/node-1",
        Document(R"({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})")},
       {"/api/v1/namespaces/default/events", Document("", 403)},
       {"/api/v1/namespaces/training/events",
        Document(
            absl::StrCat(R"({"items": [{"reason": "Evicted", "lastTimestamp": ")",
                         absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()),
                         R"("}]})"))}});
  options_.names = {kKubernetes};
  options_.api_server = "http://" + platform.address();
  const PlatformReading reading = AskPlatforms(options_, absl::Now());
  ASSERT_THAT(reading.events, SizeIs(2));
  EXPECT_EQ(reading.events[0].kind, LogKind::kHostCrash);
  EXPECT_EQ(reading.events[1].kind, LogKind::kPreempted);
  EXPECT_THAT(reading.unavailable, HasSubstr("list events in the namespace default"));
  EXPECT_THAT(reading.unavailable, HasSubstr("status 403"));
}

TEST_F(PlatformTest, WithoutATokenItSaysWhatToDo) {
  fs::remove(folder_ + "/token");
  options_.names = {kKubernetes};
  EXPECT_THAT(AskPlatforms(options_, absl::Now()).unavailable, HasSubstr("service account"));
}

TEST_F(PlatformTest, Scontrol) {
  Program("echo \"NodeName=$4 State=DOWN Reason=Not responding\"");
  const PlatformReading reading = AskPlatforms(options_, absl::Now());
  ASSERT_THAT(reading.events, SizeIs(1));
  EXPECT_EQ(reading.events[0].text, "Slurm says of the node: DOWN: Not responding");
  Program("echo 'slurm_load_node error: Invalid node name specified'; exit 1");
  EXPECT_THAT(AskPlatforms(options_, absl::Now()).unavailable, HasSubstr("Invalid node name"));
}

TEST_F(PlatformTest, TheOnlyLookWaitsForTheAnswer) {
  Program("sleep 0.3; echo \"NodeName=$4 State=DOWN Reason=Not responding\"");
  HostFindings found;
  PlatformFetcher fetcher(options_);
  const std::optional<PlatformReading> reading =
      fetcher.Fetch(HostLook{.only = true}, absl::ZeroDuration(), found);
  ASSERT_TRUE(reading.has_value());
  EXPECT_THAT(reading->events, SizeIs(1));
}

TEST_F(PlatformTest, NobodyIsAskedUnlessAskedFor) {
  const PlatformReading reading = AskPlatforms(options_, absl::Now());
  EXPECT_THAT(reading.events, IsEmpty());
  EXPECT_EQ(reading.unavailable, "");
  HostFindings found;
  EXPECT_EQ(PlatformSource::MakeFetcher(HostOptions{}, found), nullptr);
}

}  // namespace
}  // namespace rapideye::agent

#include "coordinator/server/web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <variant>

#include "coordinator/core/limits.h"
#include "digest/render_html.h"
#include "proto/common/clock/clock.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr char kIncidentId[] = "20261120T124419Z-5dc4d1c8";
constexpr char kDigest[] = R"({"schemaVersion":1,"incidentId":"20261120T124419Z-5dc4d1c8",
"job":"llama","detectedAt":"2026-11-20T12:44:19.139Z","trigger":"no-progress",
"cause":"BAD_TPU_CHIP","detail":"TENSOR_CORE","confidence":0.97,"headline":"Bad.",
"culprits":[{"slice":0,"task":1,"host":"h1","why":"x"}],"tpuStates":[]})";

// The pages before a thread that plays the core.
class WebTest : public ::testing::Test {
 protected:
  WebTest() : cache_(queue_) {
    std::string pattern = fs::temp_directory_path() / "rapideye-web-XXXXXX";
    root_ = mkdtemp(pattern.data());
    readings_.since_turn = absl::Seconds(1);
    web_ = std::make_unique<Web>(Web::Sources{.cache = &cache_,
                                              .archive = std::make_shared<IncidentArchive>(root_),
                                              .telemetry = &telemetry_,
                                              .read = [this] { return readings_; }});
    core_ = std::thread([this] {
      for (;;) {
        const Event event = *queue_.Pop(absl::InfiniteDuration());
        if (std::holds_alternative<Stop>(event)) return;
        JobStatus status;
        status.job = "llama";
        status.connected = 7;
        cache_.Report(MonotonicTime(), std::move(status));
      }
    });
  }
  ~WebTest() override {
    queue_.Post(Stop{});
    core_.join();
    web_.reset();
    fs::remove_all(root_);
  }

  http::Response Get(const std::string& path) { return web_->Answer({.path = path}); }
  void Store(const std::string& file, const std::string& bytes) const {
    fs::create_directories(root_ + "/incidents/" + kIncidentId);
    std::ofstream(root_ + "/incidents/" + kIncidentId + "/" + file) << bytes;
  }

  std::string root_;
  EventQueue queue_;
  StatusCache cache_;
  Telemetry telemetry_;
  Readings readings_;
  std::unique_ptr<Web> web_;
  std::thread core_;
};

TEST_F(WebTest, Metrics) {
  const http::Response response = Get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.content_type, HasSubstr("version=0.0.4"));
  EXPECT_THAT(response.body, HasSubstr("\nrapideye_coordinator_workers_connected 7\n"));
}

TEST_F(WebTest, StatusPage) {
  const http::Response response = Get("/");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.content_type, HasSubstr("text/html"));
  EXPECT_THAT(response.body, HasSubstr("<h2>llama</h2>"));
  EXPECT_THAT(response.headers, Contains(Pair("Content-Security-Policy",
                                              AllOf(HasSubstr("'none'"), HasSubstr("'sha256-")))));
}

TEST_F(WebTest, HealthIsThatTheLoopTurns) {
  EXPECT_EQ(Get("/healthz").status, 200);
  readings_.disk.problem = "No space left";  // no reason to be restarted
  EXPECT_EQ(Get("/healthz").status, 200);
  readings_.since_turn = kLoopPatience + absl::Seconds(1);
  EXPECT_EQ(Get("/healthz").status, 503);
  EXPECT_THAT(Get("/healthz").body, HasSubstr("has not turned"));
  EXPECT_EQ(Get("/readyz").status, 503);
}

TEST_F(WebTest, ReadinessSaysHowTheStateDirectoryIs) {
  EXPECT_THAT(Get("/readyz").body, HasSubstr("ok: the state directory"));
  readings_.disk.problem = "No space left";
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_THAT(Get("/readyz").body, HasSubstr("degraded: No space left"));
}

TEST_F(WebTest, WhoIsAskedToStopTakesNoAgentsButIsWell) {
  readings_.stopping = true;
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(WebTest, IncidentsAreListed) {
  EXPECT_THAT(Get("/incidents").body, HasSubstr("None."));
  Store("digest.json", kDigest);
  EXPECT_THAT(Get("/incidents").body, AllOf(HasSubstr(kIncidentId), HasSubstr("BAD_TPU_CHIP")));
}

TEST_F(WebTest, IncidentInEveryForm) {
  Store("digest.json", kDigest);
  Store("digest.txt", "the text");
  Store("digest.html", "the page");
  Store("capture.jsonl.gz", "the capture");
  const std::string incident = std::string("/incidents/") + kIncidentId;
  const http::Response page = Get(incident);
  EXPECT_THAT(page.body, HasSubstr("the page"));
  EXPECT_THAT(page.content_type, HasSubstr("text/html"));
  EXPECT_THAT(page.headers, Contains(Pair("Content-Security-Policy", HasSubstr("sandbox"))));
  EXPECT_EQ(Get(incident + ".html").body, "the page");
  EXPECT_EQ(Get(incident + ".json").body, kDigest);
  EXPECT_EQ(Get(incident + ".json").content_type, "application/json");
  EXPECT_EQ(Get(incident + ".txt").body, "the text");
  const http::Response capture = Get(incident + ".capture.jsonl.gz");
  EXPECT_EQ(capture.body, "the capture");
  EXPECT_EQ(capture.content_type, "application/gzip");
  EXPECT_THAT(capture.headers, Contains(Pair("Content-Disposition", HasSubstr(kIncidentId))));
}

TEST_F(WebTest, IncidentThatIsNotThereOrNotWhole) {
  EXPECT_EQ(Get(std::string("/incidents/") + kIncidentId).status, 404);
  Store("digest.txt", "the text");
  EXPECT_EQ(Get(std::string("/incidents/") + kIncidentId + ".json").status, 500);
  EXPECT_THAT(Get("/incidents").body, HasSubstr("damaged: digest.json is missing"));
}

// The page is that of a real digest: a link must not be lost when its markup changes.
TEST_F(WebTest, ThePageOfAnIncidentLeadsBack) {
  digest::Report report;
  report.incident_id = kIncidentId;
  report.files.text = "digest.txt";
  report.files.html = "digest.html";
  const std::string page = digest::RenderHtml(report);
  EXPECT_THAT(page, Not(HasSubstr("href=\"/incidents\"")));
  Store("digest.html", page);
  EXPECT_THAT(Get(std::string("/incidents/") + kIncidentId).body,
              AllOf(HasSubstr("<a href=\"/\">Job</a>"), HasSubstr("<a href=\"/incidents\">")));
}

TEST_F(WebTest, TheNewestIncidentHasAnAddressOfItsOwn) {
  EXPECT_EQ(Get("/incidents/latest").status, 404);
  Store("digest.json", kDigest);
  const std::string incident = std::string("/incidents/") + kIncidentId;
  for (const std::string suffix : {"", ".json", ".capture.jsonl.gz"}) {
    const http::Response answer = Get("/incidents/latest" + suffix);
    EXPECT_EQ(answer.status, 302);
    EXPECT_THAT(answer.headers, Contains(Pair("Location", incident + suffix)));
  }
  EXPECT_EQ(Get("/incidents/latest.exe").status, 404);
}

TEST_F(WebTest, NothingElseIsServed) {
  std::ofstream(root_ + "/version") << "1\n";
  Store("digest.json", kDigest);
  for (const std::string& path :
       {std::string("/nothing"), std::string("/incidents/"), std::string(""), std::string("//"),
        std::string("/metrics/"), std::string("/incidents/../version"),
        std::string("/incidents/../../etc/passwd"),
        std::string("/incidents/") + kIncidentId + "/../x.json",
        std::string("/incidents/") + kIncidentId + "/digest.json",
        std::string("/incidents/") + kIncidentId + ".xml", std::string("/incidents/.json"),
        std::string("/incidents/<script>")}) {
    const http::Response response = Get(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(response.body, Not(HasSubstr("<script>"))) << path;
  }
}

TEST_F(WebTest, AtTheEndNobodyWaits) {
  Store("digest.json", kDigest);
  cache_.Stop();
  web_->Stop();
  EXPECT_THAT(Get("/").body, HasSubstr("has not answered"));
  EXPECT_EQ(Get("/incidents").status, 503);
  EXPECT_EQ(Get(std::string("/incidents/") + kIncidentId).status, 503);
}

}  // namespace
}  // namespace rapideye::coordinator

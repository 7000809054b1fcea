#include "coordinator/otlp/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;

IncidentEvent Event(const std::string& incident) {
  return {.kind = IncidentEventKind::kOpened, .incident = incident, .text = "text"};
}

// The incidents of a request.
std::vector<std::string> IncidentsIn(const std::string& body) {
  std::vector<std::string> incidents;
  const auto request = nlohmann::json::parse(body);
  for (const auto& record : request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]) {
    for (const auto& attribute : record["attributes"]) {
      if (attribute["key"] == "rapideye.incident") {
        incidents.push_back(attribute["value"]["stringValue"]);
      }
    }
  }
  return incidents;
}

// Answers requests with these results in turn, and OK after them. Shared: a try may hang.
struct Receiver {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<absl::Status> answers;
  std::vector<std::vector<std::string>> requests;
  std::string url;

  absl::Status Take(const std::string& to, const std::string& body) {
    const std::lock_guard lock(mutex);
    url = to;
    requests.push_back(IncidentsIn(body));
    changed.notify_all();
    return requests.size() <= answers.size() ? answers[requests.size() - 1] : absl::OkStatus();
  }
  // Waits until `count` requests have come.
  void Await(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return requests.size() >= count; });
  }
};

OtlpExporter::Settings SettingsFor(const std::shared_ptr<Receiver>& receiver) {
  return {.endpoint = "http://127.0.0.1:4318",
          .first_retry = absl::Milliseconds(1),
          .longest_retry = absl::Milliseconds(1),
          .stop_patience = absl::InfiniteDuration(),
          .post = [receiver](const std::string& url, const std::string& body) {
            return receiver->Take(url, body);
          }};
}

TEST(OtlpExporter, SendsWhatItIsGiven) {
  const auto receiver = std::make_shared<Receiver>();
  {
    OtlpExporter exporter(SettingsFor(receiver));
    exporter.Send(Event("a"));
    receiver->Await(1);
  }
  EXPECT_EQ(receiver->url, "http://127.0.0.1:4318/v1/logs");
  EXPECT_THAT(receiver->requests, ElementsAre(ElementsAre("a")));
}

TEST(OtlpExporter, TriesAgainWhatFoundNobody) {
  const auto receiver = std::make_shared<Receiver>();
  receiver->answers = {absl::UnavailableError("away"), absl::UnavailableError("away")};
  {
    OtlpExporter exporter(SettingsFor(receiver));
    exporter.Send(Event("a"));
    receiver->Await(3);
    EXPECT_EQ(exporter.Report().failures, 2);
  }
  EXPECT_THAT(receiver->requests,
              ElementsAre(ElementsAre("a"), ElementsAre("a"), ElementsAre("a")));
}

// A request begins once the one before is accounted for.
TEST(OtlpExporter, DropsWhatTheReceiverRefuses) {
  const auto receiver = std::make_shared<Receiver>();
  receiver->answers = {absl::InvalidArgumentError("status 400")};
  OtlpExporter exporter(SettingsFor(receiver));
  exporter.Send(Event("a"));
  receiver->Await(1);
  exporter.Send(Event("b"));
  receiver->Await(2);
  EXPECT_EQ(exporter.Report().dropped, 1);
  exporter.Send(Event("c"));
  receiver->Await(3);
  EXPECT_GE(exporter.Report().sent, 1);  // the last one may be over, too
  EXPECT_EQ(exporter.Report().failures, 0);
  EXPECT_THAT(receiver->requests,
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

// The first try hangs until the test lets it go; senders do not wait.
TEST(OtlpExporter, KeepsTheNewestWhileTheReceiverHangs) {
  const auto receiver = std::make_shared<Receiver>();
  auto settings = SettingsFor(receiver);
  std::promise<void> begun;
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  auto first = std::make_shared<bool>(true);
  settings.post = [receiver, gate, first, &begun](const std::string& url, const std::string& body) {
    if (std::exchange(*first, false)) {
      begun.set_value();
      gate.wait();
      return absl::UnavailableError("too late");
    }
    return receiver->Take(url, body);
  };
  OtlpExporter exporter(std::move(settings));
  exporter.Send(Event("first"));
  begun.get_future().wait();
  for (size_t i = 0; i < kMaxOtlpEvents; ++i) exporter.Send(Event(std::to_string(i)));
  EXPECT_EQ(exporter.Report().dropped, 1);
  go_on.set_value();
  receiver->Await(1);
  ASSERT_EQ(receiver->requests.at(0).size(), kMaxOtlpEvents);
  EXPECT_EQ(receiver->requests.at(0).front(), "0");
}

TEST(OtlpExporter, ItsEndWaitsForNoReceiverThatHangs) {
  auto begun = std::make_shared<std::promise<void>>();
  auto go_on = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  {
    OtlpExporter exporter({.endpoint = "http://127.0.0.1:4318",
                           .stop_patience = absl::ZeroDuration(),
                           .post = [begun, go_on, ended](const auto&, const auto&) {
                             begun->set_value();
                             go_on->get_future().wait();
                             ended->set_value();
                             return absl::OkStatus();
                           }});
    exporter.Send(Event("a"));
    begun->get_future().wait();
  }
  go_on->set_value();
  ended->get_future().wait();
}

TEST(UrlForLogs, HoldsNoPassword) {
  EXPECT_EQ(UrlForLogs("http://collector:4318/v1/logs"), "http://collector:4318/v1/logs");
  EXPECT_EQ(UrlForLogs("https://ann:s3cret@c:4318/v1/logs"), "https://***@c:4318/v1/logs");
  EXPECT_EQ(UrlForLogs("https://ann:s3@cret@c"), "https://***@c");
  EXPECT_EQ(UrlForLogs("http://c/a@b"), "http://c/a@b");
  const std::string said(OtlpLogsUrl("http://ann:s3cret@c:4318?x").status().message());
  EXPECT_EQ(said.find("s3cret"), std::string::npos) << said;
}

TEST(OtlpLogsUrl, IsTheEndpointWithItsPath) {
  EXPECT_EQ(OtlpLogsUrl("http://collector:4318").value(), "http://collector:4318/v1/logs");
  EXPECT_EQ(OtlpLogsUrl("https://c/otlp/").value(), "https://c/otlp/v1/logs");
  EXPECT_EQ(OtlpLogsUrl("http://c:4318/v1/logs").value(), "http://c:4318/v1/logs");
  for (const char* bad : {"", "collector:4318", "ftp://c", "http://", "http:///v1", "http://c x",
                          "http://c?x=1", "http://:4318", "file:///etc/passwd"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(OtlpLogsUrl(bad).status())) << bad;
  }
}

}  // namespace
}  // namespace rapideye::coordinator

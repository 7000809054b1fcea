#include "coordinator/otlp/log_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace rapideye::coordinator {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

IncidentEvent Opened() {
  return {.kind = IncidentEventKind::kOpened,
          .incident = "20261120T124419Z-5dc4d1c8",
          .job = "llama",
          .at = absl::FromUnixNanos(1'800'000'000'123'456'789),
          .observed = absl::FromUnixSeconds(1'800'000'005),
          .revision = 1,
          .text = "Megascale detects a hang\n",
          .verdict = ToldVerdict{.cause = "BAD_TPU_CHIP",
                                 .detail = "TENSOR_CORE",
                                 .confidence = 0.98,
                                 .headline = "Megascale detects a hang.",
                                 .sentence = "h0 chip 2 stopped. 31 cores wait for it.",
                                 .culprits = {"h0", "h1"},
                                 .culprit_hosts = 3}};
}

json RecordOf(const IncidentEvent& event) {
  return json::parse(RenderLogs({event}))
      .at("resourceLogs")
      .at(0)
      .at("scopeLogs")
      .at(0)
      .at("logRecords")
      .at(0);
}

std::map<std::string, json> AttributesOf(const json& record) {
  std::map<std::string, json> attributes;
  for (const json& one : record.at("attributes")) {
    EXPECT_TRUE(attributes.emplace(one.at("key"), one.at("value")).second);
  }
  return attributes;
}

TEST(OtlpLogRecord, AHangIsAnErrorWithTheFieldsOfItsDigest) {
  const json record = RecordOf(Opened());
  EXPECT_EQ(record.at("timeUnixNano"), "1800000000123456789");
  EXPECT_EQ(record.at("observedTimeUnixNano"), "1800000005000000000");
  EXPECT_EQ(record.at("severityNumber"), 17);
  EXPECT_EQ(record.at("severityText"), "ERROR");
  EXPECT_EQ(record.at("eventName"), "rapideye.incident.opened");
  EXPECT_EQ(record.at("body").at("stringValue"), "Megascale detects a hang\n");
  auto attributes = AttributesOf(record);
  EXPECT_EQ(attributes["rapideye.event"].at("stringValue"), "opened");
  EXPECT_EQ(attributes["rapideye.incident"].at("stringValue"), "20261120T124419Z-5dc4d1c8");
  EXPECT_EQ(attributes["rapideye.revision"].at("intValue"), "1");
  EXPECT_EQ(attributes["rapideye.job"].at("stringValue"), "llama");
  EXPECT_EQ(attributes["rapideye.cause"].at("stringValue"), "BAD_TPU_CHIP");
  EXPECT_EQ(attributes["rapideye.detail"].at("stringValue"), "TENSOR_CORE");
  EXPECT_EQ(attributes["rapideye.confidence"].at("doubleValue"), 0.98);
  EXPECT_EQ(attributes["rapideye.headline"].at("stringValue"), "Megascale detects a hang.");
  EXPECT_EQ(attributes["rapideye.sentence"].at("stringValue"),
            "h0 chip 2 stopped. 31 cores wait for it.");
  EXPECT_THAT(attributes["rapideye.culprits"].at("arrayValue").at("values"),
              ElementsAre(json{{"stringValue", "h0"}}, json{{"stringValue", "h1"}}));
  EXPECT_EQ(attributes["rapideye.culprit_hosts"].at("intValue"), "3");
}

TEST(OtlpLogRecord, WhatIsNotKnownIsLeftOut) {
  IncidentEvent event = Opened();
  event.job = "";
  event.verdict = ToldVerdict{.cause = "UNKNOWN"};
  const auto attributes = AttributesOf(RecordOf(event));
  for (const char* key : {"rapideye.job", "rapideye.detail", "rapideye.confidence",
                          "rapideye.headline", "rapideye.sentence"}) {
    EXPECT_FALSE(attributes.contains(key)) << key;
  }
  EXPECT_TRUE(attributes.contains("rapideye.cause"));
}

TEST(OtlpLogRecord, AChangedVerdictIsAnErrorOfTheNextRevision) {
  IncidentEvent event = Opened();
  event.kind = IncidentEventKind::kChanged;
  event.revision = 2;
  const json record = RecordOf(event);
  EXPECT_EQ(record.at("severityNumber"), 17);
  EXPECT_EQ(record.at("eventName"), "rapideye.incident.changed");
  auto attributes = AttributesOf(record);
  EXPECT_EQ(attributes["rapideye.event"].at("stringValue"), "changed");
  EXPECT_EQ(attributes["rapideye.revision"].at("intValue"), "2");
}

TEST(OtlpLogRecord, ARecoveryIsAnInformation) {
  const json record = RecordOf({.kind = IncidentEventKind::kRecovered,
                                .incident = "i",
                                .at = absl::FromUnixSeconds(5),
                                .observed = absl::FromUnixSeconds(5),
                                .text = "the job goes on"});
  EXPECT_EQ(record.at("severityNumber"), 9);
  EXPECT_EQ(record.at("severityText"), "INFO");
  EXPECT_EQ(record.at("eventName"), "rapideye.incident.recovered");
  EXPECT_FALSE(AttributesOf(record).contains("rapideye.cause"));
}

// Hosts and programs choose names; a time may be infinite.
TEST(OtlpLogRecord, AnyBytesBecomeText) {
  IncidentEvent event = Opened();
  event.text = std::string("a\xff\0b", 4) + std::string(kMaxLogBody, 'x');
  event.verdict->culprits = {"\xc3\x28\"\\"};
  event.at = absl::InfinitePast();
  const json record = RecordOf(event);
  EXPECT_LE(record.at("body").at("stringValue").get<std::string>().size(), kMaxLogBody);
  EXPECT_EQ(record.at("timeUnixNano"), "0");
}

TEST(OtlpLogRecord, SeveralEventsAreOneRequest) {
  const json request = json::parse(RenderLogs({Opened(), Opened()}));
  ASSERT_EQ(request.at("resourceLogs").size(), 1U);
  const json& logs = request.at("resourceLogs").at(0);
  EXPECT_EQ(logs.at("scopeLogs").at(0).at("logRecords").size(), 2U);
  const json& service = logs.at("resource").at("attributes").at(0);
  EXPECT_EQ(service.at("key"), "service.name");
  EXPECT_EQ(service.at("value").at("stringValue"), "rapideye-coordinator");
}

}  // namespace
}  // namespace rapideye::coordinator

#include "coordinator/cli/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rapideye::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kId[] = "20261120T124419Z-5dc4d1c8";

v1::GetStatusReply Hanging() {
  v1::GetStatusReply status;
  status.set_job("llama");
  status.set_activity(v1::GetStatusReply::WAITING);
  status.set_last_incident_id(kId);
  v1::IncidentSummary& incident = *status.mutable_last_incident();
  incident.set_id(kId);
  incident.set_cause("BAD_TPU_CHIP");
  incident.set_detail("TENSOR_CORE");
  incident.set_confidence(0.97);
  incident.add_culprits("h1");
  incident.set_culprit_hosts(3);
  return status;
}

TEST(StatusTextTest, AHangSaysFirstWhoAndWhy) {
  EXPECT_THAT(StatusText(Hanging()),
              AllOf(StartsWith("HANG       BAD_TPU_CHIP TENSOR_CORE: h1 and 2 more\n"),
                    HasSubstr(std::string("rapideye show ") + kId), Not(HasSubstr("\x1b"))));
}

TEST(StatusTextTest, AHangSaysSecondWhatStopped) {
  v1::GetStatusReply status = Hanging();
  status.mutable_last_incident()->set_sentence("h1 chip 2 stopped in fusion.2. 31 cores wait.");
  EXPECT_THAT(StatusText(status),
              StartsWith("HANG       BAD_TPU_CHIP TENSOR_CORE: h1 and 2 more\n"
                         "           h1 chip 2 stopped in fusion.2. 31 cores wait.\njob "));
  status.set_activity(v1::GetStatusReply::ARMED);
  EXPECT_THAT(StatusText(status), Not(HasSubstr("fusion.2")));
}

TEST(StatusTextTest, CulpritsAreMarkedAmongTheSlowest) {
  v1::GetStatusReply status = Hanging();
  status.set_connected(2);
  status.add_slowest()->set_host("h1");
  status.add_slowest()->set_host("h2");
  EXPECT_THAT(StatusText(status),
              AllOf(HasSubstr("\nSlowest (2 of 2):"), Not(HasSubstr("(culprit)"))));
  status.mutable_slowest(0)->set_accused(true);
  EXPECT_THAT(StatusText(status), AllOf(HasSubstr("\nCulprits, then slowest (2 of 2):"),
                                        HasSubstr("h1 (culprit)"), Not(HasSubstr("h2 (culprit)"))));
  const auto json = nlohmann::json::parse(StatusJson(status));
  EXPECT_EQ(json["workers"]["slowest"][0]["accused"], true);
  EXPECT_FALSE(json["workers"]["slowest"][1].contains("accused"));
}

TEST(StatusTextTest, NobodyIsNamedWhereNobodyCanBe) {
  v1::GetStatusReply status = Hanging();
  status.mutable_last_incident()->clear_culprits();
  EXPECT_THAT(StatusText(status),
              StartsWith("HANG       BAD_TPU_CHIP TENSOR_CORE: nobody can be named\n"));
}

TEST(StatusTextTest, WhatIsOverIsSaidBesideItsIncident) {
  v1::GetStatusReply status = Hanging();
  status.set_activity(v1::GetStatusReply::ARMED);
  EXPECT_FALSE(Hangs(status));
  EXPECT_THAT(StatusText(status),
              AllOf(Not(HasSubstr("HANG")),
                    HasSubstr(std::string(kId) + ", over: BAD_TPU_CHIP TENSOR_CORE: h1")));
}

TEST(StatusTextTest, AVerdictThatWasNotSeenIsLeftOut) {
  v1::GetStatusReply status = Hanging();
  status.clear_last_incident();
  EXPECT_TRUE(Hangs(status));
  EXPECT_THAT(StatusText(status), AllOf(StartsWith("job "), HasSubstr(kId)));
}

TEST(StatusTextTest, ColoursAreForTerminals) {
  EXPECT_THAT(StatusText(Hanging(), /*colours=*/true), StartsWith("\x1b[31;1mHANG"));
}

TEST(StatusTextTest, WhatAPeerSentIsNoMarkupOfTheTerminal) {
  v1::GetStatusReply status = Hanging();
  status.mutable_last_incident()->set_culprits(0, "h\x1b[2J");
  EXPECT_THAT(StatusText(status), Not(HasSubstr("\x1b")));
}

TEST(StatusJsonTest, TellsTheVerdict) {
  const auto json = nlohmann::json::parse(StatusJson(Hanging()));
  EXPECT_EQ(json["hangs"], true);
  EXPECT_EQ(json["lastVerdict"]["cause"], "BAD_TPU_CHIP");
  EXPECT_EQ(json["lastVerdict"]["culprits"], nlohmann::json({"h1"}));
  EXPECT_EQ(json["lastVerdict"]["culpritHosts"], 3);
  EXPECT_FALSE(json["lastVerdict"].contains("sentence"));  // of a digest that has none
  v1::GetStatusReply status = Hanging();
  status.mutable_last_incident()->set_sentence("h1 stopped.");
  EXPECT_EQ(nlohmann::json::parse(StatusJson(status))["lastVerdict"]["sentence"], "h1 stopped.");
}

}  // namespace
}  // namespace rapideye::cli

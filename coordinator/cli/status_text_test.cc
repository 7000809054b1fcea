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
}

}  // namespace
}  // namespace rapideye::cli

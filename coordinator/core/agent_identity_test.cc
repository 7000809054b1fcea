#include "coordinator/core/agent_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/membership.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

wire::Hello HelloOf(int slice, int task) {
  wire::Hello hello;
  hello.job = "job";
  hello.worker = {slice, task};
  hello.host = "tpu-3";
  hello.agent_incarnation = 10;
  hello.poll_interval = absl::Seconds(5);
  return hello;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(IdentityTemplate, NamesOneWorkerOnly) {
  for (const char* good :
       {"rapideye-agent-{slice}-{task}", "spiffe://cluster/{job}/slice/{slice}/task/{task}",
        "{slice}.{task}", "{task}x{slice}"}) {
    EXPECT_TRUE(CheckIdentityTemplate(good).ok()) << good;
  }
  for (const char* bad :
       {"", "rapideye-agent", "agent-{task}", "agent-{slice}", "{slice}{task}", "{slice}0{task}",
        "{job}{slice}-{task}", "{slice}-{task}-*", "{slice}-{task}?", "{slice}-{task}-{host}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckIdentityTemplate(bad))) << bad;
  }
}

TEST(AgentIdentity, ACertificateSpeaksForItsWorkerOnly) {
  const IdentityRules rules = {
      .templates = {"rapideye-agent-{slice}-{task}", "spiffe://c/{job}/{slice}/{task}"}};
  const std::vector<std::string> names = {"rapideye-agent-1-3"};
  EXPECT_TRUE(CheckAgentIdentity(rules, names, HelloOf(1, 3)).ok());
  EXPECT_TRUE(CheckAgentIdentity(rules, {"spiffe://c/job/1/3"}, HelloOf(1, 3)).ok());
  const absl::Status other = CheckAgentIdentity(rules, names, HelloOf(1, 2));
  EXPECT_TRUE(absl::IsPermissionDenied(other));
  EXPECT_THAT(Message(other), HasSubstr("'rapideye-agent-1-2' of slice 1 task 2"));
  for (const std::string& name :
       {std::string("rapideye-agent-*-*"), std::string("rapideye-agent-1-33"),
        std::string("rapideye-agent-1-3\0.evil", 24), std::string("spiffe://c/other/1/3")}) {
    EXPECT_FALSE(CheckAgentIdentity(rules, {name}, HelloOf(1, 3)).ok()) << name;
  }
  EXPECT_FALSE(CheckAgentIdentity(rules, {}, HelloOf(1, 3)).ok());
  // Where certificates name no worker, any certificate will do.
  EXPECT_TRUE(CheckAgentIdentity({}, names, HelloOf(1, 2)).ok());
}

TEST(AgentIdentity, ACertificateThatNamesAMachineIsOfNoOther) {
  wire::Hello hello = HelloOf(0, 0);
  hello.node = "node-7";
  const std::vector<std::string> names = {"rapideye://host/tpu-3", "rapideye://node/node-7"};
  EXPECT_TRUE(CheckAgentIdentity({}, names, hello).ok());
  hello.node = "gke-tenant-b-17";
  const absl::Status status = CheckAgentIdentity({}, names, hello);
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(Message(status), HasSubstr("hello.node: 'gke-tenant-b-17'"));
  hello.node = "node-7";
  hello.hardware = "instance 1/2";  // no word on it
  EXPECT_TRUE(CheckAgentIdentity({}, names, hello).ok());
  EXPECT_FALSE(CheckAgentIdentity({}, {"rapideye://hardware/2"}, hello).ok());
  EXPECT_TRUE(CheckAgentIdentity({}, {"rapideye://hardware/instance%201%2F2"}, hello).ok());
}

TEST(DirectEvidence, IsOfTrustedAgentsAboutTheirOwnMachineOnly) {
  const IdentityRules rules = {.direct_evidence_from = {"rapideye-host-agent-*"}};
  wire::Hello hello = HelloOf(0, 0);
  const std::string self = "rapideye-host-agent-7";
  EXPECT_TRUE(CheckDirectEvidence(rules, {self, "tpu-3"}, hello).ok());
  EXPECT_TRUE(CheckDirectEvidence(rules, {self, "rapideye://host/tpu-3"}, hello).ok());
  // By default no certificate is believed; with a pattern, none that the pattern does not match.
  EXPECT_TRUE(absl::IsPermissionDenied(CheckDirectEvidence({}, {self, "tpu-3"}, hello)));
  EXPECT_TRUE(absl::IsPermissionDenied(CheckDirectEvidence(rules, {"tpu-3"}, hello)));
  EXPECT_TRUE(absl::IsPermissionDenied(CheckDirectEvidence(rules, {}, hello)));
  // The certificate must hold each name by which the machine may be removed.
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckDirectEvidence(rules, {self}, hello)));
  hello.node = "node-7";
  EXPECT_THAT(Message(CheckDirectEvidence(rules, {self, "tpu-3"}, hello)),
              HasSubstr("'rapideye://node/node-7'"));
  EXPECT_TRUE(CheckDirectEvidence(rules, {self, "tpu-3", "node-7"}, hello).ok());
  hello.hardware = "i-4711";
  EXPECT_FALSE(CheckDirectEvidence(rules, {self, "tpu-3", "node-7", "i-4711"}, hello).ok());
  EXPECT_TRUE(
      CheckDirectEvidence(rules, {self, "tpu-3", "node-7", "rapideye://hardware/i-4711"}, hello)
          .ok());
}

TEST(AgentIncarnationOfTheFuture, IsRefused) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  wire::Hello hello = HelloOf(0, 0);
  hello.agent_incarnation = absl::ToUnixMicros(now + absl::Hours(23));
  EXPECT_TRUE(CheckAgentIncarnation(hello, now).ok());
  hello.agent_incarnation = absl::ToUnixMicros(now + absl::Hours(25));
  EXPECT_THAT(Message(CheckAgentIncarnation(hello, now)), HasSubstr("hello.agentIncarnation"));
}

// An agent whose certificate names another worker takes no place, whether it comes first, last, or
// with the youngest incarnation that there is.
TEST(AgentIdentity, NobodyTakesAPlaceByComingFirst) {
  Membership membership({.job = "job", .slices = {}, .tasks_per_slice = {}},
                        {.templates = {"rapideye-agent-{slice}-{task}"}});
  const Peer thief = {.identity = "a", .names = {"rapideye-agent-0-2"}};
  const Peer owner = {.identity = "b", .names = {"rapideye-agent-0-1"}};
  wire::Hello stolen = HelloOf(0, 1);
  stolen.agent_incarnation = int64_t{1} << 53;
  EXPECT_TRUE(absl::IsPermissionDenied(membership.Admit(1, stolen, thief).status()));
  EXPECT_EQ(membership.Find({0, 1}), nullptr);
  EXPECT_TRUE(membership.Admit(2, HelloOf(0, 1), owner).ok());
  membership.Leave(2);
  EXPECT_TRUE(absl::IsPermissionDenied(membership.Admit(3, stolen, thief).status()));
  EXPECT_TRUE(membership.Admit(4, HelloOf(0, 1), owner).ok());
  EXPECT_TRUE(membership.Admit(5, HelloOf(0, 2), thief).ok());
}

}  // namespace
}  // namespace rapideye::coordinator

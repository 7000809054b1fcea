#include "coordinator/cli/doctor/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace rapideye::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Outcome = Check::Outcome;

HostFacts Good() {
  return {.descriptors_soft = 1024,
          .descriptors_hard = 1 << 20,
          .clock_synchronised = true,
          .clock_error = absl::Milliseconds(3),
          .ptrace_scope = 0,
          .may_trace = false,
          .kernel_log = "",
          .tools = {"eu-stack", "py-spy"}};
}

// The check of this subject; every other check of the host must be right.
Check Of(const Checks& checks, const std::string& subject) {
  for (const Check& check : checks) {
    if (check.subject == subject) return check;
  }
  ADD_FAILURE() << "nothing is said of " << subject;
  return {};
}

std::vector<std::string> NotRight(const Checks& checks) {
  std::vector<std::string> subjects;
  for (const Check& check : checks) {
    if (check.outcome != Outcome::kRight) subjects.push_back(check.subject);
    EXPECT_FALSE(check.text.empty());
  }
  return subjects;
}

TEST(JudgeHostTest, AGoodHostIsRight) { EXPECT_THAT(NotRight(JudgeHost(Good(), 1000)), IsEmpty()); }

TEST(JudgeHostTest, EachThingThatIsWrongSaysWhatToDo) {
  HostFacts facts = Good();
  facts.descriptors_hard = 1024;
  EXPECT_THAT(NotRight(JudgeHost(facts, 100)), IsEmpty());
  EXPECT_THAT(Of(JudgeHost(facts, 1000), "descriptors").text, HasSubstr("LimitNOFILE"));
  facts = Good();
  facts.clock_synchronised = false;
  EXPECT_THAT(Of(JudgeHost(facts, {}), "clock").text, HasSubstr("chrony"));
  facts.clock_synchronised = std::nullopt;
  EXPECT_EQ(Of(JudgeHost(facts, {}), "clock").outcome, Outcome::kUnknown);
  facts = Good();
  facts.clock_error = absl::Seconds(16);
  EXPECT_EQ(Of(JudgeHost(facts, {}), "clock").outcome, Outcome::kWrong);
  facts = Good();
  facts.kernel_log = "Operation not permitted";
  EXPECT_THAT(Of(JudgeHost(facts, {}), "kernel log").text, HasSubstr("CAP_SYSLOG"));
  facts = Good();
  facts.tools = {"eu-stack"};
  EXPECT_THAT(Of(JudgeHost(facts, {}), "tools").text, HasSubstr("pip install py-spy"));
}

TEST(JudgeHostTest, WhoMayReadStacks) {
  HostFacts facts = Good();
  for (const int scope : {1, 2, 3}) {
    facts.ptrace_scope = scope;
    facts.may_trace = false;
    EXPECT_EQ(Of(JudgeHost(facts, {}), "stacks").outcome, Outcome::kWrong) << scope;
    facts.may_trace = true;
    EXPECT_EQ(Of(JudgeHost(facts, {}), "stacks").outcome, Outcome::kRight) << scope;
  }
  facts.may_trace = false;
  facts.ptrace_scope = 1;
  EXPECT_THAT(Of(JudgeHost(facts, {}), "stacks").text, HasSubstr("rapideye-agent exec"));
  facts.ptrace_scope = std::nullopt;
  EXPECT_EQ(Of(JudgeHost(facts, {}), "stacks").outcome, Outcome::kRight);
}

TEST(JudgeDirectoryTest, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(NotRight(JudgeDirectory({.path = "/s", .there = true})), IsEmpty());
  EXPECT_THAT(JudgeDirectory({.path = "/s", .network_type = "NFS"})[0].text,
              HasSubstr("SQLite loses"));
  EXPECT_THAT(JudgeDirectory({.path = "/s", .others_may_write = true})[0].text,
              HasSubstr("chmod o-w"));
  EXPECT_THAT(JudgeDirectory({.path = "/s", .free_bytes = 5 << 20})[0].text,
              HasSubstr("only 5 MiB"));
  EXPECT_EQ(JudgeDirectory({.path = "/s", .problem = "x", .network_type = "NFS"}).size(), 2u);
}

TEST(JudgePeerTest, ARefusalShowsThatTheNetworkWorks) {
  using Answer = PeerFacts::Answer;
  const auto outcome = [](Answer answer) {
    return JudgePeer({.peer = "h:1", .answer = answer, .detail = "d"})[0].outcome;
  };
  EXPECT_EQ(outcome(Answer::kConnected), Outcome::kRight);
  EXPECT_EQ(outcome(Answer::kRefused), Outcome::kRight);
  EXPECT_EQ(outcome(Answer::kSilent), Outcome::kWrong);
  EXPECT_EQ(outcome(Answer::kUnreachable), Outcome::kWrong);
  EXPECT_EQ(outcome(Answer::kUnknownName), Outcome::kWrong);
  EXPECT_EQ(outcome(Answer::kNotTried), Outcome::kUnknown);
}

AgentAnswer Agent(const std::string& snapshot) {
  return {.program = "/bin/agent", .failure = "", .snapshot = snapshot, .log = ""};
}

TEST(JudgeAgentTest, ARunningJobIsRight) {
  const AgentAnswer answer = Agent(
      R"({"snapshot":{"worker":{"slice":1,"task":2},"host":"h","runtime":{"state":"SERVING"},)"
      R"("processes":[{"pid":7}],"nics":[{"name":"eth0","up":true}],)"
      R"("pcie":[{"chip":0,"fatal":0},{"chip":1,"fatal":0}]}})");
  EXPECT_THAT(NotRight(JudgeAgent(answer)), IsEmpty());
  EXPECT_THAT(Of(JudgeAgent(answer), "sysfs").text, HasSubstr("of 2 chips"));
  EXPECT_EQ(WorkerOf(answer)->slice, 1);
  EXPECT_EQ(WorkerOf(answer)->task, 2);
}

TEST(JudgeAgentTest, ARuntimeThatDoesNotAnswerIsWrongOnlyBesideItsProcess) {
  const std::string head = R"({"snapshot":{"runtime":{"state":"UNAVAILABLE","detail":"refused"})";
  EXPECT_EQ(Of(JudgeAgent(Agent(head + "}}")), "TPU runtime").outcome, Outcome::kUnknown);
  const Check wrong = Of(JudgeAgent(Agent(head + R"(,"processes":[{"pid":7}]}})")), "TPU runtime");
  EXPECT_EQ(wrong.outcome, Outcome::kWrong);
  EXPECT_THAT(wrong.text, HasSubstr("UNAVAILABLE: refused"));
}

TEST(JudgeAgentTest, WhatTheAgentComplainsOfIsPassedOn) {
  AgentAnswer answer = Agent(R"({"snapshot":{}})");
  answer.log =
      "no JSON\n{\"level\":\"info\",\"message\":\"i\"}\n{\"level\":3,\"message\":\"x\"}\n"
      "{\"level\":\"warning\",\"message\":\"no "
      "PCIe\"}\n{\"level\":\"error\",\"message\":\"bad\"}\n";
  const Checks checks = JudgeAgent(answer);
  EXPECT_EQ(checks[0].text, "no PCIe");
  EXPECT_EQ(checks[0].outcome, Outcome::kUnknown);
  EXPECT_EQ(checks[1].text, "bad");
  EXPECT_EQ(checks[1].outcome, Outcome::kWrong);
}

TEST(JudgeAgentTest, NoAgentNoAnswerAndNonsenseAreWrong) {
  EXPECT_EQ(JudgeAgent({})[0].outcome, Outcome::kWrong);
  EXPECT_EQ(JudgeAgent({.program = "a", .failure = "f"})[0].text, "f");
  for (const char* nonsense : {"", "[]", "{", R"({"snapshot":3})"}) {
    EXPECT_EQ(JudgeAgent(Agent(nonsense))[0].outcome, Outcome::kWrong) << nonsense;
    EXPECT_FALSE(WorkerOf(Agent(nonsense)).has_value());
  }
  // Every field of another type.
  EXPECT_FALSE(JudgeAgent(Agent(R"({"snapshot":{"worker":[],"host":1,"runtime":"x","nics":{},)"
                                R"("processes":{}}})"))
                   .empty());
}

TEST(JudgeCoordinatorTest, ShapeAndPresenceAreCompared) {
  v1::GetStatusReply status;
  status.set_expected(8);
  status.set_connected(7);
  v1::WorkerStatus& missing = *status.add_missing();
  missing.mutable_worker()->set_slice(1);
  missing.mutable_worker()->set_task(2);
  EXPECT_THAT(NotRight(JudgeCoordinator(status, OwnWorker{0, 0}, 8)), IsEmpty());
  EXPECT_THAT(Of(JudgeCoordinator(status, {}, 16), "shape of the job").text,
              HasSubstr("expects 8 workers, the environment of this host says 16"));
  EXPECT_THAT(Of(JudgeCoordinator(status, OwnWorker{1, 2}, 8), "agent").text,
              HasSubstr("misses that of slice 1 task 2"));
  // The two cannot be compared if one of them is not known.
  EXPECT_EQ(Of(JudgeCoordinator(status, {}, {}), "shape of the job").outcome, Outcome::kUnknown);
  status.set_expected(0);
  EXPECT_EQ(Of(JudgeCoordinator(status, {}, 8), "shape of the job").outcome, Outcome::kUnknown);
  const Checks nobody = JudgeCoordinator(absl::UnavailableError("no one"), {}, 8);
  EXPECT_EQ(nobody[0].text, "no one");
  EXPECT_EQ(Of(nobody, "shape of the job").outcome, Outcome::kUnknown);
}

TEST(ReadFactsTest, OfThisMachine) {
  const HostFacts facts = ReadHostFacts();
  EXPECT_GT(facts.descriptors_hard, 0u);
  EXPECT_GE(facts.descriptors_hard, facts.descriptors_soft);
  const std::string folder = testing::TempDir() + "doctor/none/yet";
  std::filesystem::remove_all(testing::TempDir() + "doctor");
  const DirectoryFacts directory = ReadDirectoryFacts(folder);
  EXPECT_FALSE(directory.there);
  EXPECT_EQ(directory.problem, "");
  EXPECT_GT(directory.free_bytes.value_or(0), 0);
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "doctor"));
  EXPECT_EQ(ReadDirectoryFacts("/dev/null").problem, "it is no directory");
  // Port 1 of loopback: refused on any machine that tests run on.
  EXPECT_EQ(TryPeer("127.0.0.1", "1", absl::Seconds(5)).answer, PeerFacts::Answer::kRefused);
  EXPECT_EQ(TryPeer("name.invalid", "1", absl::Seconds(5)).answer, PeerFacts::Answer::kUnknownName);
}

}  // namespace
}  // namespace rapideye::cli

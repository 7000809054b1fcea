#include "digest/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "digest/digest.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A bad chip, as a coordinator has stored it.
Report StoredExample() {
  const ExampleCase example = ExampleCases().front();
  ReportContext context;
  context.incident_id = "20261003T092420Z-1a2b3c4d";
  context.files.hlo = {"/state/hlo-0-0.txt.gz", "/state/hlo-0-1.txt.gz"};
  return BuildReport(example.capture, example.verdict, context);
}

std::vector<std::string> CommandsOf(const Report& report) {
  std::vector<std::string> texts;
  for (const Command& command : NextCommands(report)) texts.push_back(command.text);
  return texts;
}

TEST(CommandsTest, AMachineIsDrainedAndTheIncidentShown) {
  Report report = StoredExample();
  EXPECT_THAT(
      CommandsOf(report),
      ElementsAre("kubectl cordon tpu-1-2",
                  "scontrol update NodeName=tpu-1-2 State=DRAIN Reason=rapideye:BAD_TPU_CHIP",
                  "rapideye show 20261003T092420Z-1a2b3c4d",
                  "rapideye show 20261003T092420Z-1a2b3c4d --format=capture > "
                  "20261003T092420Z-1a2b3c4d.jsonl.gz",
                  "rapideye fleet history tpu-1-2"));
  report.scheduler = Scheduler::kKubernetes;
  report.culprits[0].node = "gke-node-7";
  EXPECT_THAT(CommandsOf(report),
              AllOf(Contains("kubectl cordon gke-node-7"), Not(Contains(HasSubstr("scontrol")))));
}

TEST(CommandsTest, TwoProgramsAreCompared) {
  Report report = StoredExample();
  report.cause = Cause::kFingerprintMismatch;
  EXPECT_THAT(CommandsOf(report), Contains("rapideye hlo hlo-0-0.txt.gz hlo-0-1.txt.gz"));
}

TEST(CommandsTest, AHostWithoutANodeIsNoNodeOfKubernetes) {
  Report report = StoredExample();
  report.scheduler = Scheduler::kKubernetes;
  EXPECT_THAT(CommandsOf(report), Not(Contains(HasSubstr("cordon"))));
}

TEST(CommandsTest, ANameThatAShellWouldReadGetsNoCommand) {
  for (const char* name :
       {"x; reboot", "$(reboot)", "-rf", "a b", "a`b`", "a\nb", "a|b", "tpu\xC3\xA9", ""}) {
    Report report = StoredExample();
    report.culprits[0].worker.host = name;
    EXPECT_THAT(CommandsOf(report), Each(AllOf(Not(HasSubstr("cordon")), Not(HasSubstr("scontrol")),
                                               Not(HasSubstr("fleet")))))
        << name;
  }
}

TEST(CommandsTest, AFrozenProcessIsThawedAndAStoppedOneContinued) {
  Capture capture = FrozenJob(1, 4);
  Verdict verdict;
  verdict.cause = Cause::kUnrecoverableError;
  verdict.detail = Detail::kProcessStopped;
  Culprit& culprit = verdict.culprits.emplace_back();
  culprit.worker = {0, 1};
  culprit.host = "tpu-0-1";
  Process& process = SnapshotOf(capture, 0, 1).processes.emplace_back();
  process.pid = 4711;
  process.state = ProcessState::kStopped;
  EXPECT_THAT(CommandsOf(BuildReport(capture, verdict, {})), Contains("kill -CONT 4711"));
  // No signal reaches it.
  process.state = ProcessState::kSleeping;
  process.wait_channel = "do_freezer_trap";
  EXPECT_THAT(
      CommandsOf(BuildReport(capture, verdict, {})),
      AllOf(Not(Contains("kill -CONT 4711")), Contains("echo 0 > /sys/fs/cgroup$(cut -d: -f3 "
                                                       "/proc/4711/cgroup)/cgroup.freeze")));
}

TEST(CommandsTest, AnOfflineDiagnosisIsKnownToNoCoordinator) {
  const ExampleCase example = ExampleCases().front();
  EXPECT_THAT(CommandsOf(BuildReport(example.capture, example.verdict, {})),
              AllOf(Contains("kubectl cordon tpu-1-2"), Not(Contains(HasSubstr("rapideye show")))));
}

}  // namespace
}  // namespace rapideye::digest

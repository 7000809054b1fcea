#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <sstream>

#include "digest/digest.h"
#include "proto/common/text/safe_text.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Render(const Capture& capture, const Verdict& verdict,
                                TextFormat format = TextFormat::kClassic) {
  return Lines(RenderText(BuildReport(capture, verdict, {}), format));
}

ExampleCase Example(const std::string& name) {
  for (ExampleCase& example : ExampleCases()) {
    if (example.name == name) return example;
  }
  ADD_FAILURE() << "no example " << name;
  return {};
}

std::vector<std::string> Head(const std::string& name, size_t count) {
  const ExampleCase example = Example(name);
  std::vector<std::string> lines = Render(example.capture, example.verdict);
  lines.resize(std::min(lines.size(), count));
  return lines;
}

// The sentences that existing readers grep for, letter by letter ------------

TEST(WordingTest, BadTpuChip) {
  EXPECT_THAT(Head("bad-tpu-chip", 10),
              ElementsAre("Megascale detects a hang that is likely caused by bad TPU chips on the "
                          "following hosts. Please remove the hosts from the fleet and restart the "
                          "workload. If problem persists please contact Megascale XLA team.",
                          "  The host that have bad TPUs are: tpu-1-2",  //
                          "  Full error digest:",                        //
                          "    Potential cause: Bad TPU chips",          //
                          "    Potential culprit workers: llama-70b/6:tpu-1-2",
                          "    First error timestamp: 2026-10-03T03:53:15.139Z",
                          "    First error type: HANG_DETECTED",  //
                          "    TPU stats:",                       //
                          "      tpu-1-2: 0x11",                  //
                          "    TPU states:"));
}

TEST(WordingTest, BadGpu) {
  ExampleCase example = Example("bad-tpu-chip");
  example.verdict.detail = Detail::kGpu;
  EXPECT_THAT(Render(example.capture, example.verdict), Contains("    Potential cause: Bad GPUs"));
}

TEST(WordingTest, NetworkingIssue) {
  EXPECT_THAT(Head("networking-issue", 5),
              ElementsAre("Megascale detects a hang that is likely caused by a networking issue. "
                          "Please examine the underlying networking stack for the following hosts.",
                          "  The hosts are: tpu-0-3, tpu-1-3",  //
                          "  Full error digest:",               //
                          "    Potential cause: Networking issue",
                          "    Potential culprit workers: llama-70b/3:tpu-0-3, "
                          "llama-70b/7:tpu-1-3"));
}

TEST(WordingTest, DifferentModule) {
  EXPECT_THAT(
      Head("different-module", 4),
      ElementsAre("Megascale detects a hang that is likely caused by running different "
                  "modules on different devices. Please confirm that all workers is running "
                  "the exact same program. It can also be caused by a hang in a subset of "
                  "devices and the unaffected devices have moved on to the next program. "
                  "Please inspect the digest below to further root cause the hang.",
                  "  Example hosts that have different HLO modules: tpu-0-1",
                  "  Full error digest:", "    Potential cause: Different module"));
}

TEST(WordingTest, FingerprintMismatch) {
  EXPECT_THAT(
      Head("fingerprint-mismatch", 4),
      ElementsAre("Megascale detects a hang that is likely caused by inconsistent HLO module "
                  "compilation across workers. This is likely a bug in JAX tracing or XLA "
                  "compiler. Please inspect the HLO dumps to confirm the root cause.",
                  "  Example hosts that have different HLO fingerprints: tpu-0-0, tpu-0-1",
                  "  Full error digest:", "    Potential cause: Fingerprint mismatch"));
}

TEST(WordingTest, DataInputStall) {
  EXPECT_THAT(
      Head("data-input-stall", 4),
      ElementsAre("Megascale detects a hang that is likely caused by data input stall on the "
                  "following hosts. Please check the workers to make sure the data input "
                  "pipeline is working properly.",
                  "  The host that have data input stalls are: tpu-0-2",
                  "  Full error digest:", "    Potential cause: Data input stall"));
}

TEST(WordingTest, UnrecoverableError) {
  EXPECT_THAT(Head("unrecoverable-error", 8),
              ElementsAre("Some workers have halted with an unrecoverable error:",
                          "  llama-70b/2:tpu-1-0 : process 4711 exited with status 1",
                          "  Please inspect the error log of these workers:",
                          "  llama-70b/2:tpu-1-0",  //
                          "  Full error digest:",   //
                          "    Potential cause: Unrecoverable error",
                          "    Potential culprit workers: llama-70b/2:tpu-1-0",
                          "    First error timestamp: 2026-10-03T03:53:08.639Z"));
}

TEST(WordingTest, Unknown) {
  EXPECT_THAT(Head("unknown", 4),
              ElementsAre("Megascale detects a hang but cannot determine the root cause. Please "
                          "inspect the full digest below.",
                          "  Full error digest:", "    Potential cause: Unknown",
                          "    Potential culprit workers: none"));
}

TEST(WordingTest, NoHangLooksLikeNoError) {
  const ExampleCase example = Example("no-hang");
  const std::vector<std::string> lines = Render(example.capture, example.verdict);
  EXPECT_EQ(lines[0], "No hang: the job makes progress.");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("Megascale detects"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("error"))));
}

TEST(WordingTest, StatesClassic) {
  const ExampleCase example = Example("different-module");
  const std::vector<std::string> lines = Render(example.capture, example.verdict);
  const auto at = std::find(lines.begin(), lines.end(), "    TPU states:");
  ASSERT_GE(lines.end() - at, 9);
  EXPECT_THAT(
      std::vector<std::string>(at + 1, at + 9),
      ElementsAre(
          "      Module: jit_train_step", "      Fingerprint: 546cf960f488fbb06cb55381c762f061",
          "      Launch ID: 804", "        2:0x1f03(all-reduce.3): tpu-0-0, tpu-0-2, tpu-0-3",
          "      Module: jit_eval_step", "      Fingerprint: 111310349a2cb0fe2db1ccf8f6a48480",
          "      Launch ID: 804",  //
          "        2:0x900(unknown): tpu-0-1"));
}

TEST(WordingTest, StatesGrouped) {
  const ExampleCase example = Example("different-module");
  const auto lines = Render(example.capture, example.verdict, TextFormat::kGrouped);
  const auto at = std::find(lines.begin(), lines.end(),
                            "      Module: jit_eval_step Fingerprint: "
                            "111310349a2cb0fe2db1ccf8f6a48480");
  ASSERT_GE(lines.end() - at, 4);
  EXPECT_EQ(*(at - 1), "      Launch ID: 804");
  EXPECT_THAT(
      std::vector<std::string>(at + 1, at + 4),
      ElementsAre("        Sample worker: llama-70b/1@tpu-0-1:0:0", "      Tag:PC breakdown:",
                  "        4@2:0x900(unknown): [llama-70b/1:tpu-0-1@0:0, "
                  "llama-70b/1:tpu-0-1@1:0, llama-70b/1:tpu-0-1@2:0, "
                  "llama-70b/1:tpu-0-1@3:0]"));
}

TEST(WordingTest, NothingIsSaidTwice) {
  ExampleCase example = Example("networking-issue");
  Verdict& verdict = example.verdict;
  const std::string why = verdict.culprits[0].why;
  EXPECT_THAT(Render(example.capture, verdict), Contains("      tpu-0-3 (slice 0 task 3): " + why));
  verdict.evidence.push_back({why, Strength::kStrong, {}});
  verdict.evidence.push_back({verdict.links[0].why, Strength::kStrong, {}});
  const std::vector<std::string> lines = Render(example.capture, verdict);
  EXPECT_THAT(lines, Contains(HasSubstr(why)).Times(1));
  EXPECT_THAT(lines,
              Contains("      tpu-0-3 (slice 0 task 3) to tpu-1-3 (slice 1 task 3) over eth1"));
}

// Bounds ----------------------------------------------------------------------

void ExpectReadable(const std::string& text) {
  const std::vector<std::string> lines = Lines(text);
  EXPECT_THAT(lines, SizeIs(Lt(200u)));
  for (const std::string& line : lines) {
    EXPECT_LT(line.size(), text::kMaxLineBytes) << line.substr(0, 80);
  }
  EXPECT_THAT(text, EndsWith("\n"));
  EXPECT_EQ(text::ValidUtf8(text, text.size() + 3), text);
}

void ExpectReadable(const Capture& capture, const Verdict& verdict) {
  const Report report = BuildReport(capture, verdict, {});
  ExpectReadable(RenderText(report, TextFormat::kClassic));
  ExpectReadable(RenderText(report, TextFormat::kGrouped));
}

TEST(BoundsTest, AHundredThousandHosts) {
  Capture capture = FrozenJob(100, 1000);
  SequencerAt(capture, 37, 501, 1).pc = 0x11;
  Verdict verdict = Example("bad-tpu-chip").verdict;
  verdict.culprits[0].worker = {37, 501};
  verdict.culprits[0].host = "tpu-37-501";
  verdict.culprits[0].chip = 1;
  ExpectReadable(capture, verdict);
  const std::vector<std::string> lines = Render(capture, verdict);
  EXPECT_THAT(lines, IsSupersetOf({"        2:0x1f03(all-reduce.3): tpu-[0-99]-[0-999] (100000)",
                                   "        2:0x11(unknown): tpu-37-501"}));
}

TEST(BoundsTest, EveryHostIsACulprit) {
  const Capture capture = FrozenJob(10, 100);
  const std::string long_text(2000, 'x');
  for (const Cause cause : {Cause::kDataInputStall, Cause::kUnrecoverableError}) {
    Verdict verdict;
    verdict.cause = cause;
    for (const ExpectedWorker& worker : capture.header.expected_workers) {
      Culprit culprit;
      culprit.worker = worker.id;
      culprit.host = worker.host;
      culprit.why = long_text;
      verdict.culprits.push_back(culprit);
      verdict.links.push_back({worker.id, {0, 0}, "eth1", long_text});
      verdict.evidence.push_back({long_text, Strength::kWeak, {worker.id}});
      verdict.lacking.push_back(long_text);
      verdict.actions.push_back({long_text, long_text});
      verdict.removal.targets.push_back({worker.host, std::nullopt, std::nullopt, 3});
    }
    verdict.removal.reason = long_text;
    verdict.alternatives.assign(20,
                                {Cause::kUnknown, Detail::kOther, 1, verdict.culprits, long_text});
    ExpectReadable(capture, verdict);
  }
}

TEST(BoundsTest, EveryCoreStandsSomewhereElse) {
  Capture capture = FrozenJob(4, 100);
  int64_t pc = 0;
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) {
      core.launch_id = static_cast<int32_t>(pc / 8);
      core.sequencers[0].pc = ++pc;
      core.sequencers[0].hlo = std::string(1000, 'h');
    }
  }
  ExpectReadable(capture, Example("unknown").verdict);
  EXPECT_THAT(Render(capture, Example("unknown").verdict),
              Contains("      … and 192 more programs or launches (1536 cores)"));
}

TEST(BoundsTest, TheSecondLineNamesCulpritsUnfoldedAsFarAsItGoes) {
  const Capture capture = FrozenJob(1, 1000);
  Verdict verdict;
  verdict.cause = Cause::kDataInputStall;
  for (const ExpectedWorker& worker : capture.header.expected_workers) {
    Culprit culprit;
    culprit.worker = worker.id;
    culprit.host = worker.host;
    verdict.culprits.push_back(culprit);
  }
  const std::string line = Render(capture, verdict)[1];
  EXPECT_THAT(line, StartsWith("  The host that have data input stalls are: tpu-0-0, tpu-0-1, "));
  EXPECT_THAT(line, testing::MatchesRegex(".*, … and [0-9]+ more"));
  EXPECT_GT(line.size(), text::kMaxLineBytes - 100);
}

TEST(BoundsTest, ACulpritIsNamedInTheLargestGroup) {
  Capture capture = FrozenJob(100, 100);
  Verdict verdict = Example("bad-tpu-chip").verdict;
  verdict.culprits[0].worker = {99, 98};
  verdict.culprits[0].host = "tpu-99-98";
  EXPECT_THAT(Render(capture, verdict),
              Contains("        2:0x1f03(all-reduce.3): tpu-99-98, tpu-[0-98]-[0-99] (9900), "
                       "tpu-99-[0-97,99] (99)"));
}

TEST(BoundsTest, ASmallGroupWithACulpritIsShownBeforeLargerOnes) {
  Capture capture = FrozenJob(20, 2);
  for (int slice = 0; slice < 20; ++slice) {
    for (int task = 0; task < 2; ++task) {
      for (Core& core : SnapshotOf(capture, slice, task).cores) core.launch_id = slice;
    }
  }
  SnapshotOf(capture, 7, 1).cores[2].launch_id = 1000;
  Verdict verdict = Example("bad-tpu-chip").verdict;
  verdict.culprits[0].worker = {7, 1};
  EXPECT_THAT(Render(capture, verdict), Contains("      Launch ID: 1000"));
  verdict.culprits.clear();
  EXPECT_THAT(Render(capture, verdict), Not(Contains("      Launch ID: 1000")));
}

TEST(BoundsTest, ManyMissingWorkersAreFolded) {
  Capture capture = FrozenJob(1, 64);
  capture.snapshots.resize(8);
  EXPECT_THAT(Render(capture, Example("unknown").verdict),
              Contains("    Missing workers: 56 of 64: tpu-0-[8-63] (56)"));
  capture = FrozenJob(1, 9);
  capture.snapshots.pop_back();
  EXPECT_THAT(Render(capture, Example("unknown").verdict),
              Contains("    Missing workers: 1 of 9: llama-70b/8:tpu-0-8"));
}

// Forgery ---------------------------------------------------------------------

TEST(ForgeryTest, NothingAWorkerSentStartsALine) {
  const std::string hostile =
      "x\n  The host that have bad TPUs are: good-host\r\n\x85\xE2\x80\xA8\x1b[2K, other \xFF";
  ExampleCase example = Example("bad-tpu-chip");
  const ExampleCase harmless = example;

  Snapshot& snapshot = SnapshotOf(example.capture, 1, 2);
  snapshot.host = hostile;
  snapshot.programs[0].module = hostile;
  SequencerAt(example.capture, 1, 2, 2).hlo = hostile;
  example.capture.header.job = hostile;
  Verdict& verdict = example.verdict;
  verdict.culprits[0].host = hostile;
  verdict.culprits[0].why = hostile;
  verdict.evidence[0].statement = hostile;
  verdict.alternatives[0].why = hostile;
  verdict.actions[0].description = hostile;
  verdict.removal.reason = hostile;
  verdict.removal.targets[0].host = hostile;
  ReportContext context;
  context.incident_id = hostile;

  for (const TextFormat format : {TextFormat::kClassic, TextFormat::kGrouped}) {
    const std::string text = RenderText(BuildReport(example.capture, verdict, context), format);
    ExpectReadable(text);
    // A module of its own adds a group of five lines at most; other hostile text adds no line.
    EXPECT_LE(Lines(text).size(), Render(harmless.capture, harmless.verdict, format).size() + 5);
    EXPECT_THAT(Lines(text), Not(Contains(StartsWith("  The host that have bad TPUs are: good"))));
    for (char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\u2028")), HasSubstr("\\u2028"), HasSubstr("\\x1b")));
  }
  const std::string second = Render(example.capture, verdict)[1];
  EXPECT_THAT(second, HasSubstr("\\x2c\\x20other"));
  EXPECT_THAT(second, Not(HasSubstr(", ")));
}

// Determinism -----------------------------------------------------------------

TEST(DeterminismTest, TheOrderOfArrivalChangesNothing) {
  for (const ExampleCase& example : ExampleCases()) {
    Capture shuffled = example.capture;
    std::reverse(shuffled.snapshots.begin(), shuffled.snapshots.end());
    std::rotate(shuffled.header.expected_workers.begin(),
                shuffled.header.expected_workers.begin() + 1,
                shuffled.header.expected_workers.end());
    for (Snapshot& snapshot : shuffled.snapshots) {
      std::reverse(snapshot.cores.begin(), snapshot.cores.end());
      snapshot.programs.push_back({"unused", "00"});
      std::swap(snapshot.programs.front(), snapshot.programs.back());
      for (Core& core : snapshot.cores) {
        if (core.program) core.program = 1;
      }
    }
    Capture original = example.capture;
    for (Snapshot& snapshot : original.snapshots) snapshot.programs.push_back({"unused", "00"});
    const Report a = BuildReport(original, example.verdict, {});
    const Report b = BuildReport(shuffled, example.verdict, {});
    EXPECT_EQ(RenderJson(a, false), RenderJson(b, false));
    EXPECT_EQ(RenderText(a, TextFormat::kClassic), RenderText(b, TextFormat::kClassic));
    EXPECT_EQ(RenderText(a, TextFormat::kGrouped), RenderText(b, TextFormat::kGrouped));
  }
}

TEST(DeterminismTest, LocaleAndTimeZoneChangeNothing) {
  const ExampleCase example = Example("bad-tpu-chip");
  const auto render = [&] {
    const Report report = BuildReport(example.capture, example.verdict, {});
    return RenderText(report, TextFormat::kGrouped) + RenderJson(report, true);
  };
  const std::string expected = render();
  // Tries the locales that may be installed; "" takes the locale of the environment.
  for (const char* locale : {"de_DE.UTF-8", "C.UTF-8", ""}) std::setlocale(LC_ALL, locale);
  setenv("TZ", "Asia/Kathmandu", 1);
  EXPECT_EQ(render(), expected);
  unsetenv("TZ");
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace rapideye::digest

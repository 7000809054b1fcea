#include "digest/sentence.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "digest/digest.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

Verdict Accusing(Cause cause, Detail detail, int slice, int task) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.detail = detail;
  Culprit& culprit = verdict.culprits.emplace_back();
  culprit.worker = {slice, task};
  culprit.host = "tpu-" + std::to_string(slice) + "-" + std::to_string(task);
  return verdict;
}

std::string What(const Capture& capture, const Verdict& verdict) {
  return WriteSentence(BuildReport(capture, verdict, {})).what;
}

LogEvent Line(LogKind kind, const std::string& text) {
  LogEvent event;
  event.kind = kind;
  event.text = text;
  event.age_ms = 61'000;
  return event;
}

TEST(SentenceTest, SaysHowAProcessEnded) {
  const Verdict verdict = Accusing(Cause::kUnrecoverableError, Detail::kProcessExit, 0, 1);
  Capture capture = FrozenJob(1, 4);
  EXPECT_EQ(What(capture, verdict), "The training process on tpu-0-1 ended.");
  Process& process = SnapshotOf(capture, 0, 1).processes.emplace_back();
  process.exit_code = 1;
  EXPECT_EQ(What(capture, verdict), "The training process on tpu-0-1 exited with status 1.");
  process.exit_code.reset();
  process.signal = 9;
  EXPECT_EQ(What(capture, verdict),
            "The training process on tpu-0-1 was killed by signal 9 (SIGKILL).");
  process.signal = 64;
  EXPECT_EQ(What(capture, verdict), "The training process on tpu-0-1 was killed by signal 64.");
}

TEST(SentenceTest, EndsWithTheLastWordsOfTheCulpritAlone) {
  const Verdict verdict = Accusing(Cause::kUnrecoverableError, Detail::kProcessExit, 0, 1);
  Capture capture = FrozenJob(1, 4);
  const LogEvent last = Line(LogKind::kUncaughtException, "ValueError: loss is not finite.");
  SnapshotOf(capture, 0, 1).log_events = {last};
  EXPECT_EQ(What(capture, verdict),
            "The training process on tpu-0-1 ended: ValueError: loss is not finite.");
  // A line that others write, too, gives no reason for this one.
  SnapshotOf(capture, 0, 2).log_events = {last};
  EXPECT_EQ(What(capture, verdict), "The training process on tpu-0-1 ended.");
}

// The time after the last line is not known.
TEST(SentenceTest, LogsAloneTellOfTheTimeUntilTheyEnd) {
  Verdict verdict;
  verdict.cause = Cause::kNoHang;
  verdict.detail = Detail::kRunning;
  const Capture capture = FrozenJob(1, 4);
  EXPECT_EQ(What(capture, verdict), "No hang: the job makes progress.");
  const LogEvidence logs;
  ReportContext context;
  context.logs = &logs;
  EXPECT_EQ(WriteSentence(BuildReport(capture, verdict, context)).what,
            "No hang in the logs: the job made progress until they end.");
}

TEST(SentenceTest, ACoreThatLoopsHasNotStopped) {
  Verdict verdict = Accusing(Cause::kBadTpuChip, Detail::kTensorCore, 0, 1);
  verdict.culprits[0].chip = 2;
  ChainGroup& head = verdict.chain.groups.emplace_back();
  head.head = true;
  head.cores = 1;
  head.workers = {{0, 1}};
  const Capture capture = FrozenJob(1, 4);
  EXPECT_EQ(What(capture, verdict), "tpu-0-1 chip 2 stopped in all-reduce.3.");
  head.loops_ms = 60'000;
  EXPECT_EQ(What(capture, verdict),
            "tpu-0-1 chip 2 loops in all-reduce.3, and no launch completes.");
  verdict.culprits.push_back(verdict.culprits[0]);
  verdict.culprits[1].chip = 3;
  EXPECT_EQ(What(capture, verdict),
            "2 chips of tpu-0-1 loop in all-reduce.3, and no launch completes.");
  // One of two stands: they have stopped.
  verdict.chain.groups.push_back(head);
  verdict.chain.groups[1].loops_ms.reset();
  EXPECT_EQ(What(capture, verdict), "2 chips of tpu-0-1 stopped in all-reduce.3.");
}

TEST(SentenceTest, TheLabelOfASliceSaysWhatItsCulpritDoes) {
  Verdict verdict = Accusing(Cause::kBadTpuChip, Detail::kTensorCore, 0, 1);
  ChainGroup& head = verdict.chain.groups.emplace_back();
  head.head = true;
  head.cores = 1;
  head.workers = {{0, 1}};
  const Capture capture = FrozenJob(1, 4);
  const auto label = [&] { return std::string(CulpritLabel(BuildReport(capture, verdict, {}))); };
  EXPECT_EQ(label(), "stopped here");
  head.loops_ms = 60'000;
  EXPECT_EQ(label(), "loops here");
  verdict.cause = Cause::kUnrecoverableError;
  verdict.detail = Detail::kProcessExit;
  EXPECT_EQ(label(), "ended here");
  verdict.cause = Cause::kNoHang;
  EXPECT_EQ(label(), "");
}

TEST(SentenceTest, TheJsonAndTheTextSayItToo) {
  Verdict verdict = Accusing(Cause::kBadTpuChip, Detail::kTensorCore, 0, 1);
  verdict.culprits[0].chip = 2;
  const Report report = BuildReport(FrozenJob(1, 4), verdict, {});
  const std::string sentence = "tpu-0-1 chip 2 stopped in all-reduce.3. 15 cores wait for it.";
  EXPECT_EQ(SentenceText(report), sentence);
  EXPECT_NE(RenderJson(report, /*pretty=*/true).find("\"sentence\": \"" + sentence + "\""),
            std::string::npos);
  EXPECT_NE(
      RenderText(report, TextFormat::kClassic).find("    In one sentence: " + sentence + "\n"),
      std::string::npos);
}

TEST(SentenceTest, AnUnknownHangStandsWhereItsTensorCoresDo) {
  Capture capture = FrozenJob(1, 4);
  for (Snapshot& snapshot : capture.snapshots) {
    for (int i = 0; i < 8; ++i) {
      Core core = snapshot.cores[0];
      core.type = CoreType::kSparseCore;
      core.index = i;
      core.sequencers[0].hlo.reset();
      core.sequencers[0].pc = 0x240;
      snapshot.cores.push_back(std::move(core));
    }
  }
  EXPECT_EQ(What(capture, Verdict{}),
            "The job stands still, and nothing tells who stopped it. All 16 cores stand at "
            "all-reduce.3.");
  Sequencer& other = SequencerAt(capture, 0, 1, 2);
  other.hlo = "all-reduce.5";
  other.pc = 0x17;
  EXPECT_EQ(What(capture, Verdict{}),
            "The job stands still, and nothing tells who stopped it. 15 of 16 cores stand at "
            "all-reduce.3.");
}

// The age of an end is not how long the host had launched nothing.
TEST(SentenceTest, AHostThatWasEndedWhereItStoodLaunchesNothingMore) {
  Verdict verdict = Accusing(Cause::kDataInputStall, Detail::kProgramNotQueued, 0, 2);
  ChainGroup& head = verdict.chain.groups.emplace_back();
  head.head = true;
  head.since_ms = 654;
  head.wait = WaitKind::kIdle;
  EXPECT_EQ(What(FrozenJob(1, 4), verdict), "tpu-0-2 has launched nothing for 654 ms.");
  head.wait = WaitKind::kEnded;
  EXPECT_EQ(What(FrozenJob(1, 4), verdict), "tpu-0-2 launched nothing more before it ended.");
  head.cores = 2;  // the age of their last launch
  EXPECT_EQ(What(FrozenJob(1, 4), verdict), "tpu-0-2 has launched nothing for 654 ms.");
}

TEST(SentenceTest, NamesTheSmallerSideOfACut) {
  Verdict verdict = Accusing(Cause::kNetworkingIssue, Detail::kDcnPartition, 0, 0);
  verdict.partition = {{{{0, 0}, {0, 1}}, {{1, 0}, {1, 1}, {1, 2}}}};
  EXPECT_EQ(What(FrozenJob(2, 4), verdict),
            "The network is cut between tpu-0-[0-1] (2) and 3 other workers.");
}

TEST(SentenceTest, CountsThePeersThatAHostDoesNotReach) {
  Verdict verdict = Accusing(Cause::kNetworkingIssue, Detail::kDcnHost, 0, 0);
  verdict.culprits[0].nic = "eth2";
  EXPECT_EQ(What(FrozenJob(2, 4), verdict), "tpu-0-0 does not reach the other workers over eth2.");
  verdict.links = {{{0, 0}, {1, 0}, "eth2", ""}, {{0, 0}, {1, 1}, "eth2", ""}};
  EXPECT_EQ(What(FrozenJob(2, 4), verdict), "tpu-0-0 does not reach 2 other workers over eth2.");
}

// The two sides of a mismatch: the smaller one compiled on tpu-0-1.
Report Mismatch() {
  const Verdict verdict = Accusing(Cause::kFingerprintMismatch, Detail::kNone, 0, 1);
  Report report = BuildReport(FrozenJob(1, 4), verdict, {});
  HloComparison& comparison = report.hlo_comparison.emplace();
  comparison.outcome = HloOutcome::kDifferent;
  comparison.sides.resize(2);
  for (HloSide& side : comparison.sides) {
    side.module = "jit_step";
    side.dump = "module_0001.jit_step.cl_933746096.after_optimizations.txt";
  }
  return report;
}

TEST(SentenceTest, NamesWhatMadeTwoCompilationsDiffer) {
  Report report = Mismatch();
  EXPECT_EQ(WriteSentence(report).what,
            "tpu-0-1 compiles the same program to something else than the others.");
  DifferingInput& input = report.hlo_comparison->inputs.emplace_back();
  input.kind = InputKind::kFlag;
  input.name = "xla_tpu_limit";
  input.values = {"65536", "unset"};
  EXPECT_EQ(WriteSentence(report).what,
            "tpu-0-1 compiles jit_step with xla_tpu_limit 65536, the others with unset.");
  input.kind = InputKind::kProgram;
  input.name = "train.py:39";
  input.values = {"batch: f32[16,128]", "batch: f32[8,128]"};
  EXPECT_EQ(WriteSentence(report).what,
            "tpu-0-1 compiles another jit_step than the others, from train.py:39: "
            "batch: f32[16,128], not batch: f32[8,128].");
  // Another build of the compiler may be the reason for all else.
  report.hlo_comparison->sides[0].dump = "module_0001.jit_step.cl_829516930.txt";
  EXPECT_EQ(WriteSentence(report).what,
            "tpu-0-1 compiles jit_step with another build of libtpu than the others: "
            "cl_829516930, not cl_933746096.");
}

}  // namespace
}  // namespace rapideye::digest

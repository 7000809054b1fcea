#include "classifier/logs/recognise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/limits.h"
#include "v1/capture.pb.h"

namespace rapideye::logs {
namespace {

std::string KindName(LogKind kind) {
  return v1::LogEvent::Kind_Name(static_cast<v1::LogEvent::Kind>(static_cast<int>(kind)));
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Every field the line gave, as expected.tsv writes it.
std::map<std::string, std::string> Fields(const LogLine& line) {
  std::map<std::string, std::string> fields;
  const LogEvent& event = line.event;
  if (event.sequencer) fields["sequencer"] = *event.sequencer;
  if (event.tag) fields["tag"] = absl::StrCat(*event.tag);
  if (event.pc) fields["pc"] = absl::StrCat("0x", absl::Hex(*event.pc));
  if (event.hlo) fields["hlo"] = *event.hlo;
  if (event.core) fields["core"] = *event.core;
  if (event.peer_host) fields["peerHost"] = *event.peer_host;
  if (event.launch_id) fields["launchId"] = absl::StrCat(*event.launch_id);
  if (const auto& report = line.hang_report) {
    fields["pendingGraphs"] = absl::StrCat(report->pending_graphs);
    fields["completed"] = absl::StrCat(report->completed);
    fields["stepGloballyInProgress"] = report->step_globally_in_progress ? "true" : "false";
    fields["timeoutMs"] = absl::StrCat(report->timeout_ms);
  }
  return fields;
}

TEST(RecogniseTest, EverySampleLineIsWhatItIs) {
  const std::string folder = std::string(std::getenv("RAPIDEYE_TEST_DATA")) + "/";
  std::map<std::string, std::vector<std::string>> logs;
  int checked = 0;
  for (const std::string& row : Lines(folder + "expected.tsv")) {
    const std::vector<std::string> columns = absl::StrSplit(row, '\t');
    ASSERT_GE(columns.size(), 3u) << row;
    if (logs.count(columns[0]) == 0) logs[columns[0]] = Lines(folder + columns[0]);
    const std::optional<LogLine> line =
        Recognise(logs[columns[0]].at(static_cast<size_t>(std::stoi(columns[1]) - 1)));
    ASSERT_TRUE(line.has_value()) << row;
    EXPECT_EQ(KindName(line->event.kind), columns[2]) << row;
    std::map<std::string, std::string> fields = Fields(*line);
    ++checked;
    if (columns.size() < 4) continue;
    for (const absl::string_view pair : absl::StrSplit(columns[3], ';', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> expected =
          absl::StrSplit(pair, absl::MaxSplits('=', 1));
      EXPECT_EQ(fields[expected.first], expected.second) << row;
    }
  }
  EXPECT_EQ(checked, 13);
}

// One line for each kind, and one like it that is none.
struct Twins {
  LogKind kind;
  const char* line;
  const char* other;
};

class TwinsTest : public testing::TestWithParam<Twins> {};

TEST_P(TwinsTest, AreToldApart) {
  const std::optional<LogLine> line = Recognise(GetParam().line);
  ASSERT_TRUE(line.has_value()) << GetParam().line;
  EXPECT_EQ(KindName(line->event.kind), KindName(GetParam().kind)) << GetParam().line;
  const std::optional<LogLine> other = Recognise(GetParam().other);
  if (other.has_value()) {
    EXPECT_NE(KindName(other->event.kind), KindName(GetParam().kind)) << GetParam().other;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TwinsTest,
    testing::Values(
        Twins{LogKind::kHangDetected, "Megascale hang detected: Timed out waiting for 4 gra",
              "no Megascale hang detected"},
        Twins{LogKind::kHaltNetwork, "halted. observed errors are: [Network] Node 0",
              "Core halted unexpectedly, observed errors are: [Hardware]"},
        Twins{LogKind::kHaltPower, "observed errors are: [Power]", "observed errors are: Power"},
        Twins{LogKind::kHaltUser, "Core halted unexpectedly observed errors are: [User]",
              "Core halted unexpectedly"},
        Twins{LogKind::kHaltHardware, "BoundsCheck 9; observed errors are: [Hardware]",
              "BoundsCheck 9"},
        Twins{LogKind::kHaltAssertion, "Core halted unexpectedly: schecklt: a < b",
              "Core halted unexpectedly: a < b"},
        Twins{LogKind::kHaltAssertion, "Semaphore (x) has a nonzero value upon exit from",
              "Semaphore (x) has a value upon exit"},
        Twins{LogKind::kCoreHalt, "Accelerator device halted prematurely, perhaps",
              "Accelerator device started prematurely"},
        Twins{LogKind::kMissedHealthChecks, "Task /job:jax/replica:0/task:3 heartbeat timeout",
              "Task /job:jax/replica:0/task:3 heartbeat"},
        Twins{LogKind::kFollowOn,
              "2 tasks are unhealthy (stopped sending heartbeats):", "2 tasks are unhealthy"},
        Twins{LogKind::kFollowOn, "Aborting the coordinator after collecting errors", "Aborting"},
        Twins{LogKind::kOutOfMemory,
              "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12 bytes",
              "RESOURCE_EXHAUSTED: quota"},
        Twins{LogKind::kOutOfMemory, "Ran out of memory in memory space hbm. Used 17G",
              "Ran out of memory in memory space vmem"},
        Twins{LogKind::kCoordinationTimeout, "DEADLINE_EXCEEDED: GetKeyValue() timed out with key",
              "DEADLINE_EXCEEDED: timed out"},
        Twins{LogKind::kCoordinationTimeout, "Barrier timed out. Id: x", "Barrier passed"},
        Twins{LogKind::kCopyFailed, "INTERNAL: host-to-device copy failed: DMA error",
              "host-to-device copy took 3 ms"},
        Twins{LogKind::kCopyFailed, "TransferFromDevice error on chip 1", "TransferFromDevice ok"},
        Twins{LogKind::kNicFault, "ionic_comp_msn cqe with error on ionic_0", "cqe with error"},
        Twins{LogKind::kNicFault, "gve 0000:00:04.0 eth1: Link is Down", "Link is Down"},
        Twins{LogKind::kUnknownFlag, "parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --x",
              "Unknown flag --x"},
        Twins{LogKind::kPreempted, "*** SIGTERM received by PID 5 (TID 5) on cpu 3 ***",
              "installing a handler for SIGTERM"},
        Twins{LogKind::kPreempted, "upcoming maintenance event in 60 s", "maintenance window"},
        Twins{LogKind::kFollowOn,
              "jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: [pair.cc:547] "
              "Connection closed by peer [127.0.0.1]:53146",
              "[Gloo] Rank 0 is connected to 3 peer ranks."},
        Twins{LogKind::kFollowOn, "what():  [pair.cc:547] Connection closed by peer [::1]:53146",
              "Connection closed by user"},
        Twins{LogKind::kFollowOn, "read [10.0.0.2]:5: Connection reset by peer",
              "Connection reset by timer"},
        Twins{LogKind::kFollowOn,
              "Failed to send RPC to coordination service. Either the leader task is dead",
              "Connecting to JAX distributed service on 127.0.0.1:35059"},
        Twins{LogKind::kFollowOn,
              "Polled an error from coordination service (this can be an error from this or "
              "another task).",
              "Polled the coordination service"},
        Twins{LogKind::kFollowOn, "INTERNAL: Shutdown barrier has failed.", "Shutdown barrier"},
        Twins{LogKind::kMissedHealthChecks,
              "INTERNAL: Barrier failed because: task is set to ERROR: UNAVAILABLE: Task 2 "
              "heartbeat timeout. This indicates",
              "Task 2 heartbeat"},
        Twins{LogKind::kMissedHealthChecks,
              "ABORTED: 5 unexpectedly tried to connect with a different incarnation",
              "5 tried to connect"},
        Twins{LogKind::kCollectiveMismatch,
              "what():  [enforce fail at pair.cc:459] op.preamble.length <= op.nbytes. 8192 vs "
              "4096. Is there a distributed collective mismatch in your code?",
              "what():  [enforce fail at pair.cc:459] op.preamble.length <= op.nbytes."},
        Twins{LogKind::kCoordinationTimeout,
              "RPC: /xla.coordination.CoordinationService/RegisterTask",
              "RPC: /xla.coordination.CoordinationService/Heartbeat"},
        Twins{LogKind::kBenign, "MSCCL++: Feature not enabled; observed errors are: [Hardware]",
              "Feature not enabled"},
        Twins{LogKind::kBenign, "chip 0 is in a low-power state", "chip 0 is in a state"},
        Twins{LogKind::kBenign, "LL cutoff points not detected for a", "points not detected"}));

TEST(RecogniseTest, TheKernelsErrorsOnlyFromTheKernelAndOnlyOfATpu) {
  const char* line = "pcieport 0000:05:00.0: AER: Multiple Uncorrected (Fatal) error received";
  EXPECT_FALSE(Recognise(line).has_value());
  RecogniseOptions kernel;
  kernel.source = LogSource::kKernelLog;
  EXPECT_FALSE(Recognise(line, kernel).has_value());
  kernel.tpu_addresses = {{"0000:04:00.0", 0}, {"0000:05:00.0", 1}};
  const std::optional<LogLine> found = Recognise(line, kernel);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->event.kind, LogKind::kKernelHardware);
  EXPECT_EQ(found->event.chip, 1);
  EXPECT_EQ(found->event.source, LogSource::kKernelLog);
  EXPECT_FALSE(Recognise("pcieport 0000:05:00.0: AER: Corrected error", kernel).has_value());
}

TEST(RecogniseTest, MostLinesAreNothing) {
  for (const char* line :
       {"", " ", "step 1200 loss 2.31", "I1001 15:22:33.275768 4353 a.cc:1] ok"}) {
    EXPECT_FALSE(Recognise(line).has_value()) << line;
  }
}

TEST(RecogniseTest, LongLinesAreCut) {
  const std::string line = "Core halted unexpectedly " + std::string(8'000'000, 'x');
  const std::optional<LogLine> found = Recognise(line);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->event.text.size(), kMaxLogTextBytes);
  EXPECT_FALSE(Recognise(std::string(kMaxLogLineBytes, 'x') + "Barrier timed out").has_value());
}

TEST(RecogniseTest, TheSameAgainHasTheSameKey) {
  const std::string where = "Core halted unexpectedly at tag:pc TensorCoreSequencer:1:0x16";
  const auto key = [](const std::string& line) { return Recognise(line)->key; };
  EXPECT_EQ(key("E1001 15:22:33.275768    4353 a.cc:1] " + where + "9"),
            key("E1001 15:22:34.000000    4353 a.cc:1] " + where + "9"));
  EXPECT_NE(key(where + "9"), key(where + "8"));
  EXPECT_EQ(key("E1001 15:22:33.275768    4353 a.cc:1] eth1 link down"), key("eth1 link down"));
  EXPECT_NE(key("eth1 link down"), key("eth2 link down"));
}

}  // namespace
}  // namespace rapideye::logs

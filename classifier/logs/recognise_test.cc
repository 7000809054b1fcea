#include "classifier/logs/recognise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/fields.h"
#include "classifier/logs/limits.h"
#include "v1/capture.pb.h"

namespace rapideye::logs {
namespace {

using ::testing::EndsWith;

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

// Every field that the event of the line has, as expected.tsv writes it.
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

TEST(RecogniseTest, AProgramThatEndsItselfIsHeardWhateverItSays) {
  for (const char* line :
       {"F0304 00:59:01.131882       1 library.cc:104] Write not available",
        "2022-02-23 07:56:56.271731: F external/core/library_init.cc:104] Write not available",
        "(worker pid=39298, ip=10.130.0.55) F0827 23:43:41.200136   39689 handler.cc:100] ends"}) {
    const std::optional<LogLine> found = Recognise(line);
    ASSERT_TRUE(found.has_value()) << line;
    EXPECT_EQ(found->event.kind, LogKind::kProgramRejected) << line;
  }
  for (const char* line :
       {"E0304 00:59:01.131882       1 library.cc:104] Write not available",
        "Figure 0304 00:59 library.cc:104] shows", "F0304 00:59 is a colour", "step 5 F0304 ran"}) {
    EXPECT_FALSE(Recognise(line).has_value()) << line;
  }
}

TEST(RecogniseTest, FamiliesAreNotLookedForInTheKernelsLog) {
  const char* line = "mlx5_core 0000:06:00.0: wait_func: CREATE_UCTX(0xa04) No done completion";
  ASSERT_TRUE(Recognise(line).has_value());
  EXPECT_EQ(Recognise(line)->event.kind, LogKind::kNicFault);
  RecogniseOptions options;
  options.source = LogSource::kKernelLog;
  EXPECT_FALSE(Recognise(line, options).has_value());
  // A storage device is no network adapter, although the end of its name looks like an adapter's.
  EXPECT_FALSE(Recognise("storage device 0000:06:00.0: retry after timeout").has_value());
}

TEST(RecogniseTest, WordsOfAnOutcomeAreForReadersAlone) {
  const char* line = "back-off 5m0s restarting failed container=ctr pod=train-0";
  EXPECT_FALSE(Recognise(line).has_value());
  RecogniseOptions options;
  options.outcomes = true;
  ASSERT_TRUE(Recognise(line, options).has_value());
  EXPECT_EQ(Recognise(line, options)->event.kind, LogKind::kFollowOn);
  // What is tried again, or told at a low level, is no end.
  for (const char* benign : {"read of shard 12 timed out, retrying in 2 s",
                             "INFO: run timed out: 0", "process exited with exit code 0"}) {
    const auto found = Recognise(benign, options);
    EXPECT_TRUE(!found.has_value() || found->event.kind == LogKind::kBenign) << benign;
  }
  // Wordings come first: they say more.
  const auto halt = Recognise("Core halted unexpectedly: INTERNAL: timed out", options);
  ASSERT_TRUE(halt.has_value());
  EXPECT_EQ(halt->event.kind, LogKind::kCoreHalt);
}

// One line for each kind, and a similar line that is not of the kind.
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
              "Ran out of disk in /tmp"},
        Twins{LogKind::kCoordinationTimeout, "DEADLINE_EXCEEDED: GetKeyValue() timed out with key",
              "DEADLINE_EXCEEDED: timed out"},
        Twins{LogKind::kCoordinationTimeout, "Barrier timed out. Id: x", "Barrier passed"},
        Twins{LogKind::kCopyFailed, "INTERNAL: host-to-device copy failed: DMA error",
              "host-to-device copy took 3 ms"},
        Twins{LogKind::kCopyFailed, "TransferFromDevice error on chip 1", "TransferFromDevice ok"},
        Twins{LogKind::kCopyFailed, "Failed to copy 16 bytes from TPU to host",
              "Copied 16 bytes from TPU to host"},
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
        Twins{LogKind::kRestartedPeer,
              "ABORTED: 5 unexpectedly tried to connect with a different incarnation",
              "5 has connected to coordination service. Incarnation: 77"},
        Twins{LogKind::kRuntimeVerdict,
              "Megascale detects a hang that is likely caused by a networking issue.",
              "Megascale detects 2 slices"},
        Twins{LogKind::kHaltUser, "!!!! FATAL ERROR !!!! observed errors are: [USER]. Now taking",
              "observed errors are: user"},
        Twins{LogKind::kOutOfMemory, "RESOURCE_EXHAUSTED: E0100: RuntimeBufferAllocationFailure:",
              "E0100: RuntimeBufferAllocation succeeded"},
        Twins{
            LogKind::kOutOfMemory,
            "Error loading program 'jit_f': Attempting to reserve 29.49G at the bottom of memory.",
            "loading program 'jit_f'"},
        Twins{LogKind::kProgramRejected,
              "INTERNAL: Mosaic failed to compile TPU kernel: failed to legalize operation",
              "Mosaic compiled TPU kernel"},
        Twins{LogKind::kDeviceUnavailable,
              "open(/dev/vfio/0): Device or resource busy; Couldn't open iommu group /dev/vfio/0",
              "umount: /mnt: Device or resource busy"},
        Twins{LogKind::kDeviceUnavailable,
              "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: no chips",
              "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': NOT_FOUND"},
        Twins{LogKind::kHostOom,
              "[ 1234.567890] Memory cgroup out of memory: Killed process 5678 (python3)",
              "oom_score_adj is 0"},
        Twins{LogKind::kHungTask, "INFO: task python3:88 blocked for more than 120 seconds.",
              "task python3:88 slept for 120 seconds"},
        Twins{LogKind::kHungTask, "nfs: server fs not responding, still trying",
              "nfs: server fs OK"},
        Twins{LogKind::kInputWait,
              "Data loading is taking a long time: 14480.0 seconds. Waiting for 256 items.",
              "Data loading took 3 seconds"},
        Twins{LogKind::kDeviceSlow, "TPU Execute is taking a long time. This might be due to a",
              "Constant folding an instruction is taking > 1s"},
        Twins{LogKind::kCollectiveStuck,
              "[rank0]:[E515 18:36:47.3 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught "
              "collective operation timeout: WorkNCCL(SeqNum=241, OpType=ALLREDUCE)",
              "[Rank 0] Watchdog started"},
        Twins{LogKind::kCollectiveStuck,
              "This thread has been waiting for 5000ms for and may be stuck: participant",
              "Thread is unstuck!  Warning above was a false-positive."},
        Twins{LogKind::kNetwork, "misc/socket.cc:538 NCCL WARN Net : Connection closed by remote",
              "NCCL INFO [Service thread] Connection closed by localRank 3"},
        Twins{LogKind::kNicFault,
              "NCCL WARN NET/IB : Got completion from peer 10.2.0.5<33092> with error 12, opcode 0",
              "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB"},
        Twins{LogKind::kNicFault,
              "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable unplugged",
              "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged"},
        Twins{LogKind::kHostCrash,
              "TerminationEvent: Node 'pool-1' was terminated due to: Host Error",
              "Node 'pool-1' was drained"},
        Twins{LogKind::kPreempted, "PreemptionEvent: Node 'pool-1' in pool 'tpu' was preempted.",
              "if it was preempted, it resumes"},
        Twins{LogKind::kFollowOn, "*** SIGSEGV (@(nil)) received by PID 160 (TID 3418) on cpu 100",
              "RAW: Signal 15 raised at PC: 0x7f91481f87b2 while already in FailureSignalHandler!"},
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

TEST(RecogniseTest, ALogThatIsReadByItselfMayBeAKernels) {
  RecogniseOptions alone;
  alone.kernel_words = true;
  const auto found =
      Recognise("[  942.18] pcieport 0000:00:1c.4: AER: Uncorrected (Fatal) error received", alone);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->event.kind, LogKind::kKernelHardware);
  // The word of the process that wrote the file, about a device of any kind.
  EXPECT_EQ(found->event.source, LogSource::kJobLog);
  EXPECT_FALSE(found->event.chip.has_value());
  EXPECT_FALSE(Recognise("igen6_edac 0000:ed:01.0: AER: device recovery successful", alone));
}

TEST(RecogniseTest, AnErrorOfAGpusProgramIsNoHardware) {
  RecogniseOptions alone;
  alone.kernel_words = true;
  const auto hardware = Recognise("NVRM: Xid (PCI:0000:05:00): 79, GPU is lost", alone);
  ASSERT_TRUE(hardware.has_value());
  EXPECT_EQ(hardware->event.kind, LogKind::kKernelHardware);
  for (const char* number : {"13", "31", "43", "45", "68"}) {
    const auto found =
        Recognise(absl::StrCat("NVRM: Xid (PCI:0000:05:00): ", number, ", pid=7, Ch 1"), alone);
    ASSERT_TRUE(found.has_value()) << number;
    EXPECT_EQ(found->event.kind, LogKind::kFollowOn) << number;
  }
}

TEST(RecogniseTest, ColoursAreNoPartOfALine) {
  const auto found = Recognise("\x1b[1;31mERROR\x1b[0m Core halted \x1b[4munexpectedly\x1b[24m: x");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->event.text, "ERROR Core halted unexpectedly: x");
  // A sequence that is cut short, and an escape without a sequence.
  EXPECT_EQ(WithoutColours("a\x1b[31"), "a");
  EXPECT_EQ(WithoutColours("a\x1b"), "a");
  EXPECT_EQ(WithoutColours("a\x1bMb"), "aMb");
}

struct TasksOfLine {
  const char* line;
  std::vector<int32_t> tasks;
};

class NamedTasksTest : public testing::TestWithParam<TasksOfLine> {};

TEST_P(NamedTasksTest, AreTakenOutOfTheLine) {
  const auto found = Recognise(GetParam().line);
  ASSERT_TRUE(found.has_value()) << GetParam().line;
  EXPECT_EQ(found->event.peer_tasks, GetParam().tasks) << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, NamedTasksTest,
    testing::Values(
        TasksOfLine{"UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout.", {37}},
        TasksOfLine{"Barrier failed because: task is set to ERROR: Task 2 heartbeat timeout. This",
                    {2}},
        TasksOfLine{
            "/job:w/replica:0/task:8 has been set to ERROR in coordination service: UNAVAILABLE: "
            "Task /job:w/replica:0/task:8 heartbeat timeout. This indicates",
            {8}},
        TasksOfLine{"missed heartbeat of a worker", {}},
        TasksOfLine{"HorovodBroadcast_weights_0 [missing ranks: 3, 1]", {1, 3}},
        TasksOfLine{"HorovodBroadcast_weights_0 [missing ranks: x", {}},
        TasksOfLine{"Stalled ops: a.weight [ready ranks: 5, 1, 4, 7, 2, 3], a.bias [ready ranks: "
                    "1, 2, 3, 4, 5, 7], b.weight [ready ra",
                    {0, 6}},
        TasksOfLine{"Stalled ops: a [ready ranks: 0, 1, 2]", {}},
        TasksOfLine{"Stalled ops: a [ready ranks: 1], b [ready ranks: 0]", {}},
        TasksOfLine{"Stalled ops: a [ready ranks: 900]", {}},
        TasksOfLine{"ABORTED: 5 unexpectedly tried to connect with a different incarnation", {5}},
        TasksOfLine{
            "/job:jax_worker/replica:0/task:11 unexpectedly tried to connect with a different "
            "incarnation. It has likely restarted.",
            {11}},
        TasksOfLine{"/job:w/replica:0/task:N unexpectedly tried to connect with a different", {}},
        TasksOfLine{
            "[rank218]:[E108 16:19:09.6 ProcessGroupNCCL.cpp:685] [Rank 13] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=1)",
            {218}},
        TasksOfLine{
            "[E ProcessGroupNCCL.cpp:475] [Rank 1] Watchdog caught collective operation timeout",
            {1}},
        TasksOfLine{
            "  [7] finished collective #182, but didn't join collective #183 (count from 1)", {7}},
        TasksOfLine{
            "NCCL WARN Mismatched collective detected, please check your collective calls at and "
            "around rank 39. You can use",
            {39}},
        TasksOfLine{"Rank 0: Ranks 1, 3 failed to pass monitoredBarrier in 2000 ms", {1, 3}},
        TasksOfLine{"[Rank 0]: Rank 2 failed to pass monitoredBarrier in 2000 ms", {2}},
        TasksOfLine{"RuntimeError: Rank 12 failed to pass monitoredBarrier in 30 ms", {12}},
        TasksOfLine{"Task 99999999999999999999 heartbeat timeout. This indicates", {}}));

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
  // Lines of one kind, of which some tell how the process ends.
  const std::string victim = "RuntimeError: Gloo all-reduce failed: Connection closed by peer";
  const std::string watchdog = "Timeout (0:00:08)!";
  const std::string ends = "F1128 client.h:80] Terminating process because the JAX service failed";
  EXPECT_EQ(Recognise(victim)->event.kind, Recognise(watchdog)->event.kind);
  EXPECT_NE(key(victim), key(watchdog));
  for (const char* limit : {"Timeout (1:00:00)!", "Timeout (12:10:59.250000)!"}) {
    EXPECT_EQ(Recognise(limit)->event.kind, Recognise(watchdog)->event.kind) << limit;
    EXPECT_THAT(key(limit), EndsWith("|watchdog")) << limit;
  }
  // Other limits are not those of Python's watchdog.
  const auto key_or_none = [](const std::string& line) {
    const auto recognised = Recognise(line);
    return recognised ? recognised->key : "none";
  };
  for (const char* other : {"Timeout (now: 5:00 of 7)! E0001", "Timeout (12:30)! E0001"}) {
    EXPECT_FALSE(key_or_none(other).ends_with("|watchdog")) << other;
  }
  EXPECT_NE(key(victim), key(ends));
  EXPECT_NE(key(watchdog), key(ends));
}

}  // namespace
}  // namespace rapideye::logs

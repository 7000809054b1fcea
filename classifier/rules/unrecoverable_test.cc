#include <gtest/gtest.h>

#include <algorithm>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int32_t kSigAbrt = 6;
constexpr int32_t kSigKill = 9;

TEST(Unrecoverable, AProcessThatExitedBeforeTheStandstill) {
  Scenario s;
  s.Exit(0, 1, kStillMs + 2000, 1);
  s.At(0, 1).cores.clear();
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, OneThatWasKilled) {
  Scenario s;
  s.Exit(0, 1, kStillMs, std::nullopt, kSigKill);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

// The others wait for the worker in the start-up, and no worker has a runtime that answers.
TEST(Unrecoverable, OneThatWasKilledBeforeAnybodyLaunchedAnything) {
  Scenario s;
  s.capture.header.cohorts.clear();
  s.capture.header.trigger = "hang-line";
  s.capture.header.hang_threshold_ms.reset();
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.programs.clear();
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
  }
  s.Exit(0, 1, 500, std::nullopt, kSigKill);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  // A process that ends well is at no fault.
  for (const Snapshot& snapshot : s.capture.snapshots) {
    s.Exit(snapshot.worker.slice, snapshot.worker.task, 500, 0);
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Unrecoverable, OneThatIsStopped) {
  Scenario s;
  s.At(0, 1).processes[0].state = ProcessState::kStopped;
  s.At(0, 1).runtime.state = RuntimeState::kTimedOut;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_STOPPED 0.1");
}

TEST(Unrecoverable, ARuntimeThatTimedOutIsNoEvidenceAlone) {
  Scenario s;
  s.At(0, 1).runtime.state = RuntimeState::kTimedOut;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Unrecoverable, AnAbortLongBeforeTheHangWasDeclaredIsItsCause) {
  constexpr int kSigAbrt = 6;
  Scenario s;
  s.Log(0, 0, LogKind::kHangDetected, "Megascale hang detected", 2'000);
  s.Exit(0, 1, 1'000, std::nullopt, kSigAbrt);
  EXPECT_EQ(Diagnose(s).find("PROCESS_EXIT"), std::string::npos) << Diagnose(s);
  s.Exit(0, 1, kStillMs, std::nullopt, kSigAbrt);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, AProcessThatTheKernelHoldsIsNoBadChip) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.At(0, 1).processes[0].state = ProcessState::kUninterruptible;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  s.At(0, 1).runtime.state = RuntimeState::kTimedOut;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/OTHER 0.1");
  // Nor does its host owe others a launch, unless its stack shows in what it is.
  s.MakeIdle(0, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/OTHER 0.1");
  s.At(0, 1).stacks = {{"MainThread", {"acquire (threading.py:320)", "main (train.py:40)"}}};
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(Unrecoverable, AStoppedProcessBesideOneThatEndedIsAnotherFault) {
  Scenario s;
  s.Exit(0, 1, kStillMs, std::nullopt, kSigKill);
  s.At(1, 0).processes[0].state = ProcessState::kStopped;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(verdict.detail, Detail::kProcessStopped);
  ASSERT_EQ(verdict.alternatives.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].detail, Detail::kProcessExit);
  EXPECT_TRUE(verdict.alternatives[0].independent);
}

TEST(Unrecoverable, AnEndThatMayHaveFollowedAnotherIsNoFaultOfItsOwn) {
  Scenario s;
  s.Exit(0, 1, kStillMs + 20'000, 1);
  s.Exit(1, 0, kStillMs, 1);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  for (const Alternative& other : verdict.alternatives) EXPECT_FALSE(other.independent);
}

TEST(Unrecoverable, TheFirstErrorIsTheCause) {
  Scenario s;
  s.Exit(0, 1, kStillMs + 20'000, 1);
  s.Exit(0, 2, kStillMs, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, ErrorsWithinTheErrorOfTheirAgesHaveNoOrder) {
  Scenario s;
  s.Exit(0, 1, kStillMs + 3000, 1);
  s.Exit(0, 2, kStillMs, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1 0.2");
}

TEST(Unrecoverable, WhatFollowsIsNoCause) {
  Scenario s;
  s.Log(0, 2, LogKind::kFollowOn, "The program continuator has halted unexpectedly", 90'000);
  s.Log(1, 2, LogKind::kCoordinationTimeout, "Barrier timed out", 90'000);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// A ring neighbour notices a death 0.1 s later, and then ends by itself.
TEST(Unrecoverable, WhoSaysThatAPeerIsGoneFollowsIt) {
  const auto scenario = [](const char* words) {
    Scenario s;
    s.Exit(0, 1, kStillMs, std::nullopt, kSigKill);
    s.Exit(0, 2, kStillMs + 1000, 1);
    s.Log(0, 2, LogKind::kFollowOn, words, kStillMs + 1500);
    return s;
  };
  EXPECT_EQ(Diagnose(scenario("Gloo all-reduce failed: [pair.cc:547] Connection closed by peer")),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  // A second case: its words name no peer.
  EXPECT_EQ(Diagnose(scenario("Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR")),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1 0.2");
}

TEST(Unrecoverable, TheSignalOfItsOwnIsNoEcho) {
  Scenario s;
  s.Exit(0, 1, kStillMs, std::nullopt, kSigKill);
  s.Log(0, 1, LogKind::kFollowOn, "recv: Connection reset by peer", kStillMs + 2000);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, VictimsAloneAccuseNobody) {
  Scenario s;
  for (int task : {1, 2}) {
    s.Exit(0, task, kStillMs, 1);
    s.Log(0, task, LogKind::kFollowOn, "Failed to send RPC to coordination service.", kStillMs);
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // A single victim may be mistaken: there is no worker that it could have followed.
  Scenario one;
  one.Exit(0, 1, kStillMs, 1);
  one.Log(0, 1, LogKind::kFollowOn, "Failed to send RPC to coordination service.", kStillMs);
  EXPECT_EQ(Diagnose(one), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, AMismatchOfCollectivesNamesNobody) {
  Scenario s;
  s.Log(0, 1, LogKind::kCollectiveMismatch,
        "what():  Is there a distributed collective mismatch in your code?", kStillMs);
  s.Exit(0, 1, kStillMs, std::nullopt, kSigAbrt);
  s.Exit(0, 2, kStillMs - 100, 1);
  s.Log(0, 2, LogKind::kFollowOn, "Gloo all-reduce failed: Connection closed by peer",
        kStillMs - 50);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE");
}

// The rest of Gloo's ring mixes up its messages.
TEST(Unrecoverable, AMismatchAfterAKillFollowsIt) {
  Scenario s;
  s.Exit(0, 0, kStillMs, std::nullopt, 9);
  s.Log(0, 1, LogKind::kCollectiveMismatch,
        "what():  Is there a distributed collective mismatch in your code?", kStillMs - 100);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
  // A launcher kills the others after the mismatch.
  Scenario before;
  before.Exit(0, 0, kStillMs - 100, std::nullopt, 9);
  before.Log(0, 1, LogKind::kCollectiveMismatch,
             "what():  Is there a distributed collective mismatch in your code?", kStillMs);
  EXPECT_EQ(Diagnose(before), "DIFFERENT_MODULE");
}

// An agent beside the processes sees neither status nor signal.
TEST(Unrecoverable, AMismatchFollowsEndsThatNobodySawAndNoLogExplains) {
  const auto vanish = [](Scenario& s, int task, int64_t age_ms) {
    s.Exit(0, task, age_ms, std::nullopt);
    s.At(0, task).cores.clear();
  };
  const auto mismatch = [&vanish](Scenario& s) {
    vanish(s, 1, kStillMs);
    s.Log(0, 1, LogKind::kFollowOn, "terminate called after throwing an instance of 'gloo::E'",
          kStillMs);
    s.Log(0, 1, LogKind::kCollectiveMismatch,
          "what():  Is there a distributed collective mismatch in your code?", kStillMs);
  };
  Scenario s;
  mismatch(s);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE");
  for (int task : {0, 2}) vanish(s, task, kStillMs + 50);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0 0.2");
  // A log that tells of an exception explains the end of its process.
  for (int task : {0, 2}) {
    s.Log(0, task, LogKind::kUncaughtException, "ValueError: shapes differ", kStillMs - 100);
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE");
  // A launcher ends all that are left.
  Scenario ended;
  mismatch(ended);
  for (Snapshot& snapshot : ended.capture.snapshots) {
    if (snapshot.worker == WorkerId{0, 1}) continue;
    snapshot.cores.clear();
    ended.Exit(snapshot.worker.slice, snapshot.worker.task, kStillMs, std::nullopt);
  }
  EXPECT_EQ(Diagnose(ended), "DIFFERENT_MODULE");
}

TEST(Unrecoverable, AServerWithoutItsPortIsTheCauseOfACrash) {
  constexpr char kLine[] = "Failed to add port to server: No address added out of total 1 resolved";
  Scenario s;
  s.Exit(0, 0, kStillMs, std::nullopt, 11);
  s.Log(0, 0, LogKind::kDeviceUnavailable, kLine, kStillMs);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.0");
  Scenario lives;
  lives.Log(0, 0, LogKind::kDeviceUnavailable, kLine, kStillMs);
  EXPECT_EQ(Diagnose(lives), Diagnose(Scenario()));
}

// JAX waits for the others in its shutdown: the process that raised lives on.
TEST(Unrecoverable, AnUncaughtExceptionIsTheCauseThoughItsProcessLives) {
  Scenario s;
  s.Log(0, 1, LogKind::kUncaughtException, "ValueError: loss is not finite", kStillMs);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  const Verdict verdict = Classify(s.capture);
  EXPECT_FALSE(verdict.removal.eligible);
  // The exception of its neighbour is an echo.
  s.Log(0, 2, LogKind::kUncaughtException,
        "JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: Connection closed by peer",
        kStillMs + 1000);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, AnExceptionForWantOfThePortOrTheChipsIsNoFaultOfTheProgram) {
  for (const char* text :
       {"jax.errors.JaxRuntimeError: UNKNOWN: Failed to start RPC server",
        "OSError: [Errno 98] Address already in use",
        "RuntimeError: ABORTED: The TPU is already in use by process with pid 7"}) {
    Scenario s;
    s.Log(0, 1, LogKind::kUncaughtException, text, kStillMs);
    EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.1") << text;
  }
}

TEST(Unrecoverable, ALineOfChipsThatAreOutOfReachIsOneToo) {
  constexpr char kBusy[] =
      "UNKNOWN: TPU initialization failed: open(/dev/vfio/0): Device or resource busy; Couldn't "
      "open iommu group /dev/vfio/0";
  Scenario s;
  s.Log(0, 1, LogKind::kDeviceUnavailable, kBusy, kStillMs);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.1");
  // The program tried again: launches completed after the line.
  Scenario again;
  again.Log(0, 1, LogKind::kDeviceUnavailable, kBusy, kStillMs + 30'000);
  EXPECT_EQ(Diagnose(again), "UNKNOWN");
  // These lines only warn.
  for (const char* text : {"TPU backend initialization is taking more than 60.0 seconds.",
                           "profiler: bind [::]:9999: Address already in use"}) {
    Scenario warned;
    warned.Log(0, 1, LogKind::kDeviceUnavailable, text, kStillMs);
    EXPECT_EQ(Diagnose(warned), "UNKNOWN") << text;
  }
}

TEST(Unrecoverable, WhoWasKilledAsTheKernelRanOutOfMemoryWantedIt) {
  Scenario s;
  s.Log(0, 1, LogKind::kHostOom, "Memory cgroup out of memory: Killed process 7 (python3)",
        kStillMs);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // some other process
  s.Exit(0, 1, kStillMs, std::nullopt, 9);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/OUT_OF_MEMORY 0.1");
}

TEST(Unrecoverable, WhomAWatchdogEndsIsNoCause) {
  // Two workers waited in a collective until their watchdogs ended them; a third had raised before.
  Scenario s;
  for (const int task : {1, 2}) {
    s.Log(0, task, LogKind::kCollectiveStuck,
          "[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=241)", kStillMs);
    s.Exit(0, task, kStillMs - 100, 1);
  }
  s.Log(0, 3, LogKind::kUncaughtException, "ValueError: loss is not finite", kStillMs);
  s.Exit(0, 3, kStillMs, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.3");
}

// The service ends all processes; one of them is gone before the others.
TEST(Unrecoverable, WhoIsEndedByTheServiceFirstIsNoCause) {
  constexpr char kWords[] =
      "F1124 client.h:80] Terminating process because the JAX distributed service detected fatal "
      "errors. absl::Status: DEADLINE_EXCEEDED: Deadline Exceeded";
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
  }
  s.Exit(0, 1, 68, std::nullopt, kSigAbrt);
  s.Log(0, 1, LogKind::kFollowOn, kWords, 1250);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  s.Log(0, 0, LogKind::kFollowOn, kWords, 1070);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// Each loop has a watchdog of its own, also that of the worker that the others wait for.
TEST(Unrecoverable, ProcessesThatTheirWatchdogsEndAreNoCause) {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
    snapshot.progress = Progress{.step = 65, .step_ms = 12'000, .longest_step_ms = 1'000};
  }
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.Exit(worker.id.slice, worker.id.task, 4000, 1);
    s.Log(worker.id.slice, worker.id.task, LogKind::kFollowOn,
          worker.id.task % 2 == 0 ? "Timeout (0:00:08)!" : "Timeout (1:00:00.500000)!", 4100);
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Unrecoverable, AnExceptionAfterWhichTheLoopWentOnIsNoCause) {
  const auto scenario = [] {
    Scenario s;
    s.Log(0, 1, LogKind::kUncaughtException, "ValueError: retried", kStillMs + 30'000);
    return s;
  };
  EXPECT_EQ(Diagnose(scenario()), "UNKNOWN");  // launches completed after it
  const auto without_cores = [&] {
    Scenario s = scenario();
    for (Snapshot& snapshot : s.capture.snapshots) {
      snapshot.cores.clear();
      snapshot.runtime.state = RuntimeState::kUnavailable;
    }
    return s;
  };
  EXPECT_EQ(Diagnose(without_cores()), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  Scenario page = without_cores();
  page.At(0, 1).progress = Progress{.step = 7, .phase = Phase::kStep, .phase_ms = kStillMs};
  EXPECT_EQ(Diagnose(page), "UNKNOWN");
  Scenario stack = without_cores();
  stack.At(0, 1).stacks = {{"MainThread", {"read (data.py:3)", "<module> (train.py:9)"}}};
  EXPECT_EQ(Diagnose(stack), "UNKNOWN");
  Scenario shutdown = without_cores();
  shutdown.At(0, 1).stacks = {
      {"MainThread", {"shutdown (distributed.py:9)", "clean_up (api.py:3)"}}};
  EXPECT_EQ(Diagnose(shutdown), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

// JAX catches the signal and trains on; without a TPU there is no runtime to ask.
TEST(Unrecoverable, ASigtermThatEndedNothingIsNoPreemption) {
  Scenario s;
  s.Log(0, 1, LogKind::kPreempted, "preemption_notifier.cc:90] SIGTERM caught at 2026", kStillMs);
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.Exit(0, 1, kStillMs - 1000, 0);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PREEMPTED 0.1");
}

TEST(Unrecoverable, AbortsAfterTheHangLeaveThePositionsAsTheCause) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.Exit(worker.id.slice, worker.id.task, 3000, std::nullopt, kSigAbrt);
    s.Log(worker.id.slice, worker.id.task, LogKind::kHangDetected, "Megascale hang detected", 5000);
  }
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(Unrecoverable, AnEndSeenTooLateToKnowItsSignalIsAnAbortLikeTheOthers) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    const bool known = worker.id != WorkerId{1, 0};
    s.Exit(worker.id.slice, worker.id.task, kStillMs, std::nullopt,
           known ? std::optional<int32_t>(kSigAbrt) : std::nullopt);
    s.Log(worker.id.slice, worker.id.task, LogKind::kHangDetected, "Megascale hang detected", 5000);
  }
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  // A second case: the runtime of a process that ended before the hang declared no hang.
  Scenario twin;
  twin.Exit(1, 0, kStillMs, std::nullopt);
  twin.Log(0, 0, LogKind::kHangDetected, "Megascale hang detected", 5000);
  EXPECT_EQ(Diagnose(twin), "UNRECOVERABLE_ERROR/PROCESS_EXIT 1.0");
}

TEST(Unrecoverable, AProcessThatDiedEarlierThanTheAbortsIsTheCause) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.Exit(worker.id.slice, worker.id.task, 3000, std::nullopt, kSigAbrt);
    s.Log(worker.id.slice, worker.id.task, LogKind::kHangDetected, "Megascale hang detected", 5000);
  }
  s.Exit(0, 1, kStillMs + 5000, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, SoftwareHaltsNeverRemove) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.Log(0, 1, LogKind::kHaltAssertion, "BoundsCheck 92 [deref of %s931]", kStillMs, 2);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/CORE_HALT 0.1.2");
  EXPECT_FALSE(verdict.removal.eligible);
}

TEST(Unrecoverable, TheMostSpecificReadingOfALineWins) {
  Scenario s;
  s.Log(0, 1, LogKind::kCoreHalt,
        "Accelerator device halted prematurely. observed errors are: [Hardware]", kStillMs, 2);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(Unrecoverable, DetailsByKind) {
  struct Example {
    LogKind kind;
    const char* text;
    const char* expected;
  };
  const Example examples[] = {
      {LogKind::kHaltPower, "observed errors are: [Power]", "UNRECOVERABLE_ERROR/POWER 0.1"},
      {LogKind::kHaltUser, "observed errors are: [User]", "UNRECOVERABLE_ERROR/CORE_HALT 0.1"},
      {LogKind::kCoreHalt, "Core halted unexpectedly", "UNRECOVERABLE_ERROR/CORE_HALT 0.1"},
      {LogKind::kOutOfMemory, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate",
       "UNRECOVERABLE_ERROR/OUT_OF_MEMORY 0.1"},
      {LogKind::kCopyFailed, "host-to-device copy failed",
       "UNRECOVERABLE_ERROR/HOST_TO_DEVICE 0.1"},
      {LogKind::kCopyFailed, "Device to host copy failed",
       "UNRECOVERABLE_ERROR/DEVICE_TO_HOST 0.1"},
      {LogKind::kCopyFailed, "failed to copy 4096 bytes from host to TPU",
       "UNRECOVERABLE_ERROR/HOST_TO_DEVICE 0.1"},
      {LogKind::kCopyFailed, "cannot copy the buffer from TPU to host",
       "UNRECOVERABLE_ERROR/DEVICE_TO_HOST 0.1"},
      {LogKind::kCopyFailed, "Memcpy DtoH failed", "UNRECOVERABLE_ERROR/DEVICE_TO_HOST 0.1"},
      {LogKind::kCopyFailed, "a copy failed", "UNRECOVERABLE_ERROR/OTHER 0.1"},
  };
  for (const Example& example : examples) {
    Scenario s;
    s.Log(0, 1, example.kind, example.text, kStillMs + 1000);
    s.Exit(0, 1, kStillMs, 1);
    EXPECT_EQ(Diagnose(s), example.expected) << example.text;
  }
}

TEST(Unrecoverable, PreemptedIsADetailOfItsOwn) {
  Scenario s;
  s.Log(0, 1, LogKind::kPreempted, "maintenance event", kStillMs + 5000);
  s.Exit(0, 1, kStillMs, std::nullopt, 15);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PREEMPTED 0.1");
}

// The job may have said that it lost its peers, as every job does that is told to end.
TEST(Unrecoverable, ThePlatformsWordMakesAnEndAPreemptionWhateverTheJobSays) {
  Scenario s;
  s.Log(0, 1, LogKind::kPreempted, "Compute Engine says that this VM has been preempted",
        kStillMs + 5000, std::nullopt, LogSource::kPlatform);
  s.Log(0, 1, LogKind::kCoordinationTimeout, "UNAVAILABLE: Connection reset by peer",
        kStillMs + 8000);
  s.Exit(0, 1, kStillMs, std::nullopt, 15);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PREEMPTED 0.1");
}

// A process inside the job told it to end: the platform has not taken the machine away.
TEST(Unrecoverable, ASigtermWithoutANoticeIsNoPreemption) {
  Scenario s;
  s.Exit(0, 1, kStillMs, std::nullopt, 15);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, ANoticeAloneIsNothing) {
  Scenario s;
  s.Log(0, 1, LogKind::kPreempted, "maintenance event", kStillMs + 5000);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// A launch of a long step is half over when a process ends.
TEST(Unrecoverable, AnErrorIsComparedWithItsOwnCores) {
  Scenario s;
  s.StandFor(kStillMs + 30'000, kStillMs);
  s.Exit(0, 1, kStillMs, std::nullopt, 9);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, AnExitAfterItsOwnCoresHadStoodForLongFollowsSomethingElse) {
  Scenario s;
  s.StandFor(kStillMs, kStillMs);
  s.Exit(0, 1, kStillMs - 40'000, 1);
  s.Put(s.Tensor(0, 2, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.2.2");
}

// A host without a launch may have been slow for a while before it failed.
TEST(Unrecoverable, AnIdleHostMayFailAfterAWhile) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.Exit(0, 1, kStillMs - 20'000, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

// There is no list of processes, and no runtime listens where a runtime answered before.
TEST(Unrecoverable, ARuntimeThatIsGoneHasEnded) {
  Scenario s;
  s.At(0, 1).processes.clear();
  s.At(0, 1).runtime.state = RuntimeState::kUnavailable;
  s.PutHost(0, 1, 0, kStep - 1, kSomewhere);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Unrecoverable, ARuntimeThatNeverAnsweredHasNotEnded) {
  Scenario s;
  s.At(0, 1).processes.clear();
  s.At(0, 1).runtime.state = RuntimeState::kUnavailable;
  s.At(0, 1).cores.clear();
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Unrecoverable, OneThatIsStoppedBesideAnotherThatTheKernelKilledForMemory) {
  Scenario s;
  s.Exit(0, 1, kStillMs, std::nullopt, kSigKill);
  s.Log(0, 1, LogKind::kHostOom, "Out of memory: Killed process 71 (python3)", kStillMs,
        std::nullopt, LogSource::kKernelLog);
  s.MakeIdle(0, 1);
  s.At(1, 0).processes[0].state = ProcessState::kStopped;
  s.MakeIdle(1, 0);
  // Both are idle: the two failures together explain that, so no host's input is at fault.
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(verdict.detail, Detail::kOutOfMemory);
  ASSERT_EQ(verdict.alternatives.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].detail, Detail::kProcessStopped);
  EXPECT_TRUE(verdict.alternatives[0].independent);
}

TEST(Unrecoverable, AnExceptionIsNotOutlivedByWhatWasQueuedBefore) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.Log(0, 1, LogKind::kUncaughtException, "KeyError: 'labels'", kStillMs + 15'000);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

// The cores still complete queued launches; the page shows that the loop has not gone on.
TEST(Unrecoverable, AnExceptionIsNotOutlivedWhileItsPageStandsStill) {
  Scenario s;
  s.capture.header.trigger = "exit";
  s.StandFor(3000, 3000);
  s.Log(0, 1, LogKind::kUncaughtException, "KeyError: 'labels'", 20'000);
  s.At(0, 1).processes = {Process{.pid = 7, .state = ProcessState::kSleeping}};
  Progress& progress = s.At(0, 1).progress.emplace();
  progress.phase = Phase::kStep;
  progress.phase_ms = 30'000;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  // The loop has entered a phase since; or the page is not kept up to date, and proves nothing.
  progress.phase_ms = 3000;
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  progress.phase_ms = 10 * kThresholdMs;
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
}

TEST(LostWorker, MissingAndUnreachable) {
  Scenario s;
  s.ProbeAll();
  s.Remove(0, 1);
  for (const Snapshot& snapshot : s.capture.snapshots) s.FailProbes({0, 1}, snapshot.worker);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
}

// A pod that vanished leaves behind its host, which answers probes.
TEST(LostWorker, MissingAndAwaitedThoughItsHostAnswers) {
  Scenario s;
  s.ProbeAll();
  s.Remove(0, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
}

Scenario ConnectedTo(SocketState state) {
  Scenario s;
  s.Remove(0, 1);
  Socket socket;
  socket.peer = {0, 1};
  socket.state = state;
  s.At(1, 1).sockets = {socket};
  return s;
}

TEST(LostWorker, MissingButConnectedIsACrashedAgent) {
  EXPECT_EQ(Diagnose(ConnectedTo(SocketState::kEstablished)), "UNKNOWN");
}

TEST(LostWorker, MissingWithClosedConnectionsHasEnded) {
  const Verdict verdict = Classify(ConnectedTo(SocketState::kCloseWait).capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
  EXPECT_NE(verdict.culprits[0].why.find("closed"), std::string::npos) << verdict.culprits[0].why;
}

// Three cores of two hosts stand at the collectives that they share with the missing worker.
Scenario MatesOfTheMissing() {
  Scenario s;
  s.Remove(0, 1);
  const Spot shared{4, 0x500, "all-gather-done.5"};
  s.Put(s.Tensor(0, 2, 0), 0, kStep, shared);
  s.Put(s.Tensor(0, 2, 1), 0, kStep, shared);
  s.Put(s.Tensor(0, 3, 0), 0, kStep, shared);
  return s;
}

TEST(LostWorker, MatesOfTheMissingAreNoCulprits) {
  EXPECT_EQ(Diagnose(MatesOfTheMissing()), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
}

TEST(LostWorker, MatesOfTheMissingAreNoCulpritsEvenIfItMayLive) {
  Scenario s = MatesOfTheMissing();
  s.At(1, 1).sockets = ConnectedTo(SocketState::kEstablished).At(1, 1).sockets;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(LostWorker, OneCoreElsewhereIsNoMateOfAWholeWorker) {
  Scenario s;
  s.Remove(0, 1);
  s.Put(s.Tensor(0, 2, 0), 0, kStep - 1, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.2.0");
}

TEST(LostWorker, MissingAndAwaitedByEveryone) {
  Scenario s;
  s.Remove(0, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
}

// Two workers are missing; one of them takes none of the bytes that a peer has sent.
Scenario SendsTo(int task, int64_t since_ack_ms) {
  Scenario s;
  s.Remove(0, 1);
  s.Remove(0, 2);
  Socket socket;
  socket.peer = {0, task};
  socket.unacked_bytes = 100'000;
  socket.since_ack_ms = since_ack_ms;
  s.At(1, task).sockets = {socket};
  return s;
}

TEST(LostWorker, MissingAndAcknowledgesNothing) {
  EXPECT_EQ(Diagnose(SendsTo(2, kStillMs)), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
}

TEST(LostWorker, MissingButAcknowledgesIsWeak) { EXPECT_EQ(Diagnose(SendsTo(2, 20)), "UNKNOWN"); }

// The peer that reports it does not get through to others, either.
TEST(LostWorker, MissingByTheWordOfOneThatIsCutOffIsNoFaultOfItsOwn) {
  const auto independent = [](bool cut_off) {
    Scenario s = SendsTo(2, kStillMs);
    s.At(1, 3).processes[0].state = ProcessState::kStopped;
    if (cut_off) {
      Socket socket = s.At(1, 2).sockets.front();
      socket.peer = {0, 0};
      s.At(1, 2).sockets.push_back(socket);
    }
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(verdict.detail, Detail::kProcessStopped);
    return std::any_of(verdict.alternatives.begin(), verdict.alternatives.end(),
                       [](const Alternative& other) {
                         return other.independent && other.detail == Detail::kWorkerLost;
                       });
  };
  EXPECT_TRUE(independent(false));
  EXPECT_FALSE(independent(true));
}

TEST(LostWorker, MissingWhereNobodyWaitsForItIsWeak) {
  Scenario s;
  s.Remove(1, 1);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(LostWorker, MissingBesideABadChipIsWeak) {
  Scenario s;
  s.Remove(0, 3);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

}  // namespace
}  // namespace rapideye::classifier::testing

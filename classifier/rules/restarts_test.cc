#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

// The new process has launched no program, and the others wait for one.
TEST(Restarts, AProcessThatWasStartedAnewHasEndedBefore) {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Process& process : snapshot.processes) process.started_ms_ago = 3'600'000;
  }
  s.MakeIdle(0, 1);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  for (Process& process : s.At(0, 1).processes) process.started_ms_ago = kStillMs - 5000;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Restarts, AProcessYoungerThanTheOthersLastLaunchesHasBeenStartedAnew) {
  Scenario s;
  s.MakeIdle(0, 1);
  Process& process = s.At(0, 1).processes.front();
  process.started_ms_ago = kStillMs - 20'000;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  process.started_ms_ago = kStillMs;  // as old, as far as polls can tell
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// One worker has crashed, the service has ended two others with it, and their launcher has started
// all three again.
Scenario Recovered() {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Process& process : snapshot.processes) process.started_ms_ago = 3'600'000;
  }
  const auto restart = [&s](int task, int64_t exited, std::optional<int32_t> code,
                            std::optional<int32_t> signal) {
    const Process before = s.At(0, task).processes[0];
    s.MakeIdle(0, task);
    s.Exit(0, task, exited, code, signal);
    s.At(0, task).runtime.state = RuntimeState::kServing;
    Process& after = s.At(0, task).processes.emplace_back(before);
    after.started_ms_ago = exited - 8000;
  };
  restart(1, kStillMs + 2000, 1, std::nullopt);
  restart(2, kStillMs, std::nullopt, kSigAbrt);
  restart(3, kStillMs - 1000, std::nullopt, kSigAbrt);
  return s;
}

TEST(Restarts, WhoWasEndedWithAnotherAndStartedAnewIsNoCulprit) {
  EXPECT_EQ(Diagnose(Recovered()), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Restarts, OneThatIsStoppedDuringTheRecoveryIsAnotherFault) {
  Scenario s = Recovered();
  s.At(1, 0).processes[0].state = ProcessState::kStopped;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(verdict.detail, Detail::kProcessStopped);
  ASSERT_FALSE(verdict.alternatives.empty());
  EXPECT_EQ(verdict.alternatives[0].detail, Detail::kProcessExit);
  EXPECT_TRUE(verdict.alternatives[0].independent);
}

// The missing worker may have ended first.
TEST(Restarts, ARestartWhileSomebodyIsMissingIsNoFaultOfItsOwn) {
  const auto independent = [](bool missing) {
    Scenario s;
    for (Snapshot& snapshot : s.capture.snapshots) {
      for (Process& process : snapshot.processes) process.started_ms_ago = 3'600'000;
    }
    s.MakeIdle(0, 1);
    for (Process& process : s.At(0, 1).processes) process.started_ms_ago = kStillMs - 5000;
    s.At(1, 0).processes[0].state = ProcessState::kStopped;
    if (missing) s.Remove(1, 3);
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(verdict.detail, Detail::kProcessStopped);
    return std::any_of(verdict.alternatives.begin(), verdict.alternatives.end(),
                       [](const Alternative& other) { return other.independent; });
  };
  EXPECT_TRUE(independent(false));
  EXPECT_FALSE(independent(true));
}

// Nobody's end was seen: `ages` are those of the new processes of slice 0, one after the other.
Scenario StartedAnew(const std::vector<int64_t>& ages) {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Process& process : snapshot.processes) process.started_ms_ago = 3'600'000;
  }
  for (int task = 0; task < static_cast<int>(ages.size()); ++task) {
    s.MakeIdle(0, task);
    for (Process& process : s.At(0, task).processes) {
      process.started_ms_ago = ages[static_cast<size_t>(task)];
    }
  }
  return s;
}

TEST(Restarts, OfSeveralTheFirstHasEndedFirst) {
  EXPECT_EQ(Diagnose(StartedAnew({kStillMs - 8000, kStillMs - 3500})),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  // One launcher may be as much faster than another.
  EXPECT_EQ(Diagnose(StartedAnew({kStillMs - 6000, kStillMs - 3500})),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0 0.1");
}

TEST(Restarts, OfMostWorkersTheFirstIsNamed) {
  Scenario s = StartedAnew({kStillMs - 3000, kStillMs - 7000, kStillMs - 7000, kStillMs - 7000});
  for (int task = 0; task < 2; ++task) {
    s.MakeIdle(1, task);
    for (Process& process : s.At(1, task).processes) process.started_ms_ago = kStillMs - 20'000;
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
}

// Probes of another worker's host fail, and no host fails because a process ended.
TEST(Restarts, ALostHostComesBeforeRestarts) {
  Scenario s = StartedAnew({kStillMs - 5000});
  s.ProbeAll();
  s.Remove(1, 3);
  for (const Snapshot& snapshot : s.capture.snapshots) s.FailProbes({1, 3}, snapshot.worker);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 1.3");
}

}  // namespace
}  // namespace rapideye::classifier::testing

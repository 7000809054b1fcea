#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "classifier/classify.h"
#include "classifier/verdict/thresholds.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

TEST(Progress, RecentLaunchesAreNoHang) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.StandFor(10'000, 5000);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NO_HANG/RUNNING");
  EXPECT_TRUE(verdict.actions.empty());
}

// The launches of the other workers were recent when this worker went.
TEST(Progress, WhoIsGoneCompletesNothingMore) {
  Scenario s;
  s.StandFor(10'000, 5000);
  s.ProbeAll();
  s.Remove(0, 1);
  for (const Snapshot& snapshot : s.capture.snapshots) s.FailProbes({0, 1}, snapshot.worker);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
}

// Probes of a host may be dropped on their way, and its agent may not answer.
TEST(Progress, WhoseMatesMoveAtThisMomentIsNotGoneForWhoAsks) {
  Scenario s;
  s.capture.header.trigger = "operator";
  s.StandFor(10'000, 5000);
  s.ProbeAll();
  s.Remove(0, 1);
  for (const Snapshot& snapshot : s.capture.snapshots) s.FailProbes({0, 1}, snapshot.worker);
  const auto move = [&s](int slice) {
    for (Snapshot& snapshot : s.capture.snapshots) {
      if (snapshot.worker.slice != slice) continue;
      for (Core& core : snapshot.cores) {
        for (Sequencer& sequencer : core.sequencers) sequencer.frozen_ms = 300;
      }
    }
  };
  // Another slice may go on for the rest of its step.
  move(1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.1");
  move(0);
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.capture.header.trigger = "no-progress";
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
}

TEST(Progress, WhoAsksABusyHostIsToldThatNoHangIsKnown) {
  Scenario s;
  s.capture.header.trigger = "operator";
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.StandFor(10'000, 5000);
  for (Snapshot& snapshot : s.capture.snapshots) snapshot.runtime.state = RuntimeState::kTimedOut;
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  // A runtime that answers tells more.
  s.At(0, 0).runtime.state = RuntimeState::kServing;
  for (Core& core : s.At(0, 0).cores) core.stuck_ms = kDefaultHangThresholdMs;
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
  s.At(0, 0).runtime.state = RuntimeState::kTimedOut;
  s.StandFor(kDefaultHangThresholdMs, kDefaultHangThresholdMs);
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
  s.StandFor(10'000, 5000);
  s.capture.header.trigger = "no-progress";
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
}

// A new process shows its idle cores for the first time.
TEST(Progress, CoresOfAProcessThatHasJustBegunHaveCompletedNothing) {
  Scenario s;
  s.StandFor(10'000, 5000);
  for (Snapshot& snapshot : s.capture.snapshots) {
    s.MakeIdle(snapshot.worker.slice, snapshot.worker.task);
    for (Core& core : snapshot.cores) {
      core.stuck_ms.reset();
      for (Sequencer& sequencer : core.sequencers) sequencer.frozen_ms = 5000;
    }
    for (Process& process : snapshot.processes) process.started_ms_ago = 5500;
  }
  s.Remove(0, 1);
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
  for (Snapshot& snapshot : s.capture.snapshots) {
    Process helper = snapshot.processes.front();  // a loader, which has begun later
    ++helper.pid;
    for (Process& process : snapshot.processes) process.started_ms_ago = 60'000;
    snapshot.processes.push_back(helper);
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
}

// The kernel reports an error of a chip, which has completed nothing since.
TEST(Progress, AnErrorOfAChipThatWentOnIsNone) {
  Scenario s;
  s.StandFor(30'000, 25'000);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.Log(0, 1, LogKind::kKernelHardware, "AER: Uncorrectable (Fatal) error", 30'000, 2,
        LogSource::kKernelLog);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  s.StandFor(3000, 3000);
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
}

// A job without any runtime to ask, whose training loops report.
Scenario OfLoops(int64_t phase_ms) {
  Scenario s({.slices = 1, .tasks = 4, .chips = 1});
  s.capture.header.trigger = "operator";
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).cores.clear();
    s.At(0, task).runtime.state = RuntimeState::kUnavailable;
    s.At(0, task).progress = Progress{.step = 41 + task % 2,
                                      .phase = task == 3 ? Phase::kInput : Phase::kStep,
                                      .phase_ms = phase_ms};
  }
  return s;
}

TEST(Progress, LoopsThatMakeStepsAreNoHangAndSayWhereTheyAre) {
  const Verdict verdict = Classify(OfLoops(200).capture);
  EXPECT_EQ(Summary(verdict), "NO_HANG/RUNNING");
  ASSERT_EQ(verdict.evidence.size(), 3u);
  EXPECT_EQ(verdict.evidence[1].statement.find("1 worker is waiting for input, step 42: "), 0u);
  EXPECT_EQ(verdict.evidence[2].statement.find("3 workers are in a step, steps 41 to 42: "), 0u);
}

TEST(Progress, AJobThatHasJustBegunToEvaluateAdvancesForWhoAsks) {
  Scenario s = OfLoops(200);
  for (int task : {0, 2, 3}) s.At(0, task).progress->phase = Phase::kEval;
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.At(0, 1).progress->phase = Phase::kCheckpoint;
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  for (int task = 0; task < 4; ++task) s.At(0, task).progress->phase_ms = kJustEnteredMs;
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  s.capture.header.trigger = "no-progress";
  for (int task = 0; task < 4; ++task) s.At(0, task).progress->phase_ms = 200;
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
}

TEST(Progress, LoopsBetweenTwoPhasesGoOnIfSomebodyHasEnteredTheirStep) {
  Scenario s = OfLoops(200);
  for (int task : {0, 1, 3}) s.At(0, task).progress = Progress{.step = 41};
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.At(0, 1).progress->step = 40;  // it has made the step before the one that is entered
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.At(0, 2).progress->phase_ms = kJustEnteredMs;  // it may stand since then
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.At(0, 2).progress->phase_ms = 200;
  s.At(0, 1).progress->step = 39;  // it has not come that far
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.At(0, 1).progress->step = 41;
  s.At(0, 2).progress->phase_ms = kLoopMovesWithinMs;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Progress, LoopsThatAreAllBetweenTwoPhasesGoOnIfTheirPagesHaveJustChanged) {
  Scenario s = OfLoops(200);
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).progress = Progress{.step = 41 + task, .phase_ms = 700};
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.At(0, 2).progress->phase_ms = kLoopMovesWithinMs;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // One that only leaves a step has not entered the next: nothing shows that the others could.
  s = OfLoops(200);
  s.At(0, 0).progress = Progress{.step = 41, .phase_ms = 200};
  for (int task : {1, 2, 3}) s.At(0, task).progress = Progress{.step = 41};
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Progress, LoopsThatStandOrFailOrAreSilentProveNothing) {
  EXPECT_EQ(Diagnose(OfLoops(kLoopMovesWithinMs)), "UNKNOWN");
  Scenario one_stands = OfLoops(200);
  one_stands.At(0, 2).progress->phase_ms = 90'000;
  EXPECT_NE(Diagnose(one_stands), "NO_HANG/RUNNING");
  Scenario failed = OfLoops(200);
  failed.Log(0, 2, LogKind::kUncaughtException, "ValueError: x", 100);
  EXPECT_EQ(Diagnose(failed), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  Scenario silent = OfLoops(200);
  for (int task : {0, 1}) silent.At(0, task).progress.reset();
  EXPECT_EQ(Diagnose(silent), "UNKNOWN");
}

// Only the log of the first worker tells steps, every 30 s.
Scenario OfLogs(int64_t step_ms) {
  Scenario s = OfLoops(200);
  for (int task = 0; task < 4; ++task) s.At(0, task).progress.reset();
  s.At(0, 0).progress = Progress{.step = 41, .step_ms = step_ms, .longest_step_ms = 30'000};
  s.capture.header.hang_threshold_ms = 300'000;
  return s;
}

TEST(Progress, ALogThatTellsStepsIsNoHang) {
  const Verdict verdict = Classify(OfLogs(89'000).capture);
  EXPECT_EQ(Summary(verdict), "NO_HANG/RUNNING");
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[1].statement.find("1 worker is making steps, as logs tell, step 41"),
            0u);
}

TEST(Progress, ALogWhoseNextStepIsOverdueProvesNothing) {
  EXPECT_EQ(Diagnose(OfLogs(90'000)), "UNKNOWN");
  Scenario failed = OfLogs(200);
  failed.Log(0, 2, LogKind::kUncaughtException, "ValueError: x", 100);
  EXPECT_EQ(Diagnose(failed), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  Scenario missing = OfLogs(200);
  std::erase_if(missing.capture.snapshots,
                [](const Snapshot& snapshot) { return snapshot.worker == WorkerId{0, 3}; });
  EXPECT_NE(Diagnose(missing), "NO_HANG/RUNNING");
}

TEST(Progress, ALogThatCeasedIsOutrunByTheOthers) {
  Scenario s = OfLogs(200);
  for (const int task : {1, 3}) s.At(0, task).progress = s.At(0, 0).progress;
  s.At(0, 2).progress = Progress{.step = 31, .step_ms = 500'000, .longest_step_ms = 30'000};
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  // Loops run ahead of a standing loop by a few steps.
  s.At(0, 2).progress->step = 32;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // A few workers that go on prove no progress.
  s.At(0, 2).progress->step = 31;
  s.At(0, 3).progress = s.At(0, 2).progress;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Progress, StepsThatAWorkerHasLeftAreThePast) {
  Scenario s = OfLoops(200);
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kFollowOn,
          "jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: Connection closed by peer",
          100);
  }
  std::erase_if(s.capture.snapshots,
                [](const Snapshot& snapshot) { return snapshot.worker == WorkerId{0, 2}; });
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.capture.header.trigger = "exit";
  EXPECT_NE(Diagnose(s), "NO_HANG/RUNNING");
}

// No log or page has steps; kernels count the work of processes.
Scenario OfWork(int64_t since_ms) {
  Scenario s = OfLoops(200);
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).progress.reset();
    s.At(0, task).work = Work{.since_ms = since_ms, .longest_ms = 5'000};
  }
  s.capture.header.trigger = "operator";
  s.capture.header.hang_threshold_ms = 300'000;
  return s;
}

TEST(Progress, ProcessesThatWorkAsInHealthAreNoHang) {
  EXPECT_EQ(Diagnose(OfWork(4'000)), "NO_HANG/RUNNING");
}

TEST(Progress, WorkThatIsOverdueOrLackingProvesNothing) {
  EXPECT_NE(Diagnose(OfWork(kLoopMovesWithinMs)), "NO_HANG/RUNNING");
  Scenario half = OfWork(4'000);
  for (int task : {0, 1}) half.At(0, task).work.reset();
  EXPECT_NE(Diagnose(half), "NO_HANG/RUNNING");
  Scenario alarm = OfWork(4'000);
  alarm.capture.header.trigger = "hang-line";
  EXPECT_NE(Diagnose(alarm), "NO_HANG/RUNNING");
}

TEST(Progress, TheSameStandingForLongIsAHang) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.StandFor(kStillMs, 5000);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

// The runtime reports no launches: the launch in which a core stands may have begun lately, and
// completes no work.
TEST(Progress, APcThatStandsIsNoCompletedLaunch) {
  Scenario s;
  s.capture.header.trigger = "no-progress";
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.StandFor(0, kThresholdMs / 2);
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) core.stuck_ms.reset();
  }
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  Scenario moves = s;
  moves.StandFor(0, kThresholdMs / 10);
  for (Snapshot& snapshot : moves.capture.snapshots) {
    for (Core& core : snapshot.cores) core.stuck_ms.reset();
  }
  EXPECT_EQ(Diagnose(moves), "NO_HANG/RUNNING");
}

TEST(Progress, AnExitIsAFailureHoweverRecentTheLaunches) {
  Scenario s;
  s.StandFor(3000, 3000);
  s.Exit(0, 1, 4000, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Progress, AnEndSoonAfterANoticeIsAFailure) {
  constexpr int kSigTerm = 15;
  Scenario s;
  s.StandFor(3'000, 3'000);
  s.capture.header.trigger = "exit";
  s.Log(0, 1, LogKind::kPreempted, "maintenance event", 20'000);
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
  s.Exit(0, 1, 2'000, std::nullopt, kSigTerm);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PREEMPTED 0.1");
}

TEST(Progress, AnOldErrorThatTheJobSurvivedIsNone) {
  Scenario s;
  s.StandFor(3000, 3000);
  s.Log(0, 1, LogKind::kOutOfMemory, "Ran out of memory in memory space hbm", 900'000);
  EXPECT_EQ(Diagnose(s), "NO_HANG/RUNNING");
}

TEST(Progress, CheckpointAndCompilationLookLikeAStallFromTheChips) {
  for (const Phase phase : {Phase::kCheckpoint, Phase::kCompile, Phase::kEval}) {
    Scenario s;
    s.capture.header.longest_pause_ms = 900'000;
    s.MakeIdle(0, 1);
    Progress progress;
    progress.phase = phase;
    s.At(0, 1).progress = progress;
    EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  }
}

// Only a coordinator that states the limit of pauses has waited for them.
TEST(Progress, APauseExcusesNobodyWhoStandsInALaunchForLongerThanTheThreshold) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).progress.emplace().phase = Phase::kCheckpoint;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  s.capture.header.trigger = "operator";
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  s.capture.header.trigger = "no-progress";
  s.capture.header.hang_threshold_ms = kStillMs;
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  s.capture.header.hang_threshold_ms = kStillMs - 1;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// A loop that hangs in its checkpoint announces it for ever.
TEST(Progress, APauseThatWasWaitedForInVainIsNoExcuse) {
  Scenario s;
  s.MakeIdle(0, 1);
  Progress progress;
  progress.phase = Phase::kCheckpoint;
  progress.phase_ms = 300'000;
  s.At(0, 1).progress = progress;
  s.capture.header.longest_pause_ms = 900'000;
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  s.capture.header.announced_pause_ms = 300'000;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  EXPECT_TRUE(std::any_of(verdict.evidence.begin(), verdict.evidence.end(), [](const auto& item) {
    return item.statement.find("is in a checkpoint for 300 s") != std::string::npos;
  }));
}

// Three times the longest healthy pause, at least a minute, at most the operator's limit.
TEST(Progress, APauseExcusesAsLongAsItsKindTookInHealth) {
  Scenario s;
  s.MakeIdle(0, 1);
  Progress& page = s.At(0, 1).progress.emplace();
  page.phase = Phase::kCheckpoint;
  CaptureHeader& header = s.capture.header;
  header.longest_pause_ms = 900'000;
  const auto excused = [&](int64_t phase_ms) -> std::optional<int64_t> {
    page.phase_ms = phase_ms;
    const Verdict verdict = Classify(s.capture);
    if (verdict.cause == Cause::kNoHang) {
      EXPECT_EQ(Summary(verdict), "NO_HANG/PAUSED");
      return verdict.excused_ms.value_or(0);
    }
    EXPECT_EQ(Summary(verdict), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
    EXPECT_EQ(verdict.culprits[0].host_activity, HostActivity::kCheckpointSave);
    return std::nullopt;
  };
  EXPECT_EQ(excused(100'000), 800'000);  // nothing learnt: the operator's limit
  EXPECT_EQ(excused(900'000), std::nullopt);
  header.learnt_pauses = {{Phase::kEval, 500'000}, {Phase::kCheckpoint, 40'000}};
  EXPECT_EQ(excused(100'000), 20'000);
  EXPECT_EQ(excused(120'000), std::nullopt);
  header.learnt_pauses[1].longest_ms = 2'000;
  EXPECT_EQ(excused(50'000), 10'000);
  header.learnt_pauses[1].longest_ms = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(excused(100'000), 800'000);
}

TEST(Progress, ACheckpointElsewhereExcusesNoStall) {
  Scenario s;
  s.MakeIdle(0, 1);
  Progress progress;
  progress.phase = Phase::kCheckpoint;
  s.At(1, 1).progress = progress;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(Progress, ProcessorTimeAloneExcusesNobody) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).processes[0].cpu_ms = kStillMs;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// An alarm for lack of progress has outlived learnt pauses; another alarm has not.
TEST(Progress, AStackInACompilationExcusesUntilTheThresholdHasPassed) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).stacks = {{"MainThread",
                        {"backend_compile_and_load (jax/_src/compiler.py:353)",
                         "compile_or_get_cached (jax/_src/compiler.py:469)", "run (train.py:76)"}}};
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  s.capture.header.trigger = "hang-line";
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
}

// A caller from a function of that name may be in any other activity.
TEST(Progress, TheWordCheckpointInAnOuterFrameExcusesNobody) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).stacks = {
      {"MainThread",
       {"wait (threading.py:324)", "get (queue.py:171)", "checkpoint_loop (train.py:9)"}}};
  s.capture.header.trigger = "hang-line";
  EXPECT_NE(Diagnose(s), "NO_HANG/PAUSED");
}

TEST(Progress, BlockingDoesNot) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).processes[0].cpu_ms = 400;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

}  // namespace
}  // namespace rapideye::classifier::testing

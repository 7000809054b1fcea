#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "classifier/classify.h"
#include "classifier/verdict/thresholds.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

// Polls see an idle core of a short step only between two launches.
TEST(Ended, IdleCoresWithoutAClockOfTheirRuntimeDoNotShowAStandstill) {
  Scenario s;
  s.capture.header.trigger = "exit";
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 4; ++task) {
      s.MakeIdle(slice, task);
      for (int chip = 0; chip < 4; ++chip) s.Tensor(slice, task, chip).stuck_ms.reset();
      s.Exit(slice, task, 4'000, 0);
    }
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, AJobMayTakeLongBetweenItsLastStepAndItsEnd) {
  Scenario s;
  s.capture.header.trigger = "exit";
  const auto end = [&s](int32_t status_of_last) {
    for (int slice = 0; slice < 2; ++slice) {
      for (int task = 0; task < 4; ++task) {
        s.MakeIdle(slice, task);
        s.Exit(slice, task, 4'000, slice + task == 4 ? status_of_last : 0);
      }
    }
    s.StandFor(90'000, 90'000);
  };
  end(0);
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  end(1);  // it falls over as it ends
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, AJobThatWasNoticedToHangHungWhateverStatusItsProcessesEndedWith) {
  Scenario s;
  s.capture.header.trigger = "no-progress";
  s.StandFor(90'000, 90'000);
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 4; ++task) s.Exit(slice, task, 4'000, 0);
  }
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
  s.capture.header.trigger = "exit";
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, OfTwoProcessesTheOneOfWhichNothingIsKnownSaysNothingAgainstIt) {
  Scenario s({.slices = 1, .tasks = 2});
  s.StandFor(400, 400);
  s.Exit(0, 0, 500, 0);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");  // the other one lives
  s.Remove(0, 1);
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  s.Exit(0, 0, 500, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
}

constexpr int kSigAbrt = 6;
constexpr int kSigKill = 9;
constexpr int kSigTerm = 15;
constexpr int kSigSegv = 11;

// All processes of a job that worked until then have ended, by this signal.
Scenario EndedBy(std::optional<int32_t> signal) {
  Scenario s;
  s.StandFor(400, 400);
  for (const Snapshot& snapshot : s.capture.snapshots) {
    s.Exit(snapshot.worker.slice, snapshot.worker.task, 500, std::nullopt, signal);
  }
  return s;
}

TEST(Ended, AJobThatSomebodyEndsIsNoHang) {
  EXPECT_EQ(Diagnose(EndedBy(kSigTerm)), "NO_HANG/ENDED");
  EXPECT_EQ(Diagnose(EndedBy(kSigKill)), "NO_HANG/ENDED");
}

TEST(Ended, NorIsOneOfWhichNobodySawHowItWent) {
  EXPECT_EQ(Diagnose(EndedBy(std::nullopt)), "NO_HANG/ENDED");
}

// An agent beside the process sees no status: the last words of a process tell that it aborted.
TEST(Ended, NotOneOfWhichNobodySawHowItWentWhereItsLastWordsTell) {
  Scenario s = EndedBy(std::nullopt);
  for (Snapshot& snapshot : s.capture.snapshots) {
    if (snapshot.worker.slice == 0 && snapshot.worker.task == 1) continue;
    LogEvent& event = snapshot.log_events.emplace_back();
    event.kind = LogKind::kFollowOn;
    event.text =
        "F0101 12:00:00.000000 7 client.h:80] Terminating process because the JAX distributed "
        "service detected fatal errors.";
    event.age_ms = 450;
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

// Python's watchdog prints stacks, and ends the process or lets it live.
TEST(Ended, NotOneThatItsOwnWatchdogsEnded) {
  const auto printed = [](int64_t age_ms) {
    Scenario s = EndedBy(std::nullopt);
    for (Snapshot& snapshot : s.capture.snapshots) {
      LogEvent& event = snapshot.log_events.emplace_back();
      event.kind = LogKind::kFollowOn;
      event.text = "Timeout (0:05:00)!";
      event.age_ms = age_ms;
    }
    return Diagnose(s);
  };
  EXPECT_EQ(printed(700), "UNKNOWN");
  EXPECT_EQ(printed(700 + 2 * kAgeErrorMs), "NO_HANG/ENDED");
}

// A launcher ends the others within its period of looks, and agents beside them see no status.
TEST(Ended, EndsThatNobodySawFollowTheOneThatFellByItself) {
  for (const int64_t fell_ms : {1'500, 400}) {
    Scenario s = EndedBy(std::nullopt);
    s.Exit(0, 1, fell_ms, std::nullopt, kSigAbrt);
    EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1") << fell_ms;
  }
  // One that ended clearly before it does not follow it.
  Scenario s = EndedBy(std::nullopt);
  s.Exit(0, 1, 500, std::nullopt, kSigAbrt);
  s.Exit(1, 2, 501 + kAgeErrorMs, std::nullopt);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 1.2");
}

TEST(Ended, TheOnlyProcessOfAJobEndsItWithStatusZero) {
  Scenario s({.slices = 1, .tasks = 1});
  s.StandFor(400, 400);
  s.Exit(0, 0, 500, 0);
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  s.Exit(0, 0, 500, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
  s.Exit(0, 0, 500, std::nullopt, kSigKill);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
}

TEST(Ended, AsAShellReportsIt) {
  Scenario s = EndedBy(kSigTerm);
  s.Exit(0, 1, 500, 128 + kSigTerm);
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, AnAgentThatCameAfterwardsSaysNothingAgainstIt) {
  Scenario s = EndedBy(kSigKill);
  s.At(0, 1).processes.clear();
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, NorDoesAProcessThatStartsAlready) {
  Scenario s = EndedBy(kSigKill);
  std::vector<Process>& processes = s.At(0, 1).processes;
  processes.resize(1);
  processes[0] = Process{};
  processes[0].pid = 25'292;
  processes[0].state = ProcessState::kSleeping;
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  // Where a runtime listens, the worker has not ended.
  s.At(0, 1).runtime.state = RuntimeState::kServing;
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

constexpr int64_t kHourMs = 3'600'000;

// Worker 0, 1 shows the next process, whose runtime answers, and which began so long ago.
// The processes that ended began an hour ago; their exits were seen half a second ago.
Scenario StartedAgain(std::optional<int64_t> started_ms_ago) {
  Scenario s = EndedBy(kSigKill);
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Process& process : snapshot.processes) process.started_ms_ago = kHourMs;
  }
  std::vector<Process>& processes = s.At(0, 1).processes;
  processes.resize(1);
  processes[0] = Process{};
  processes[0].pid = 25'292;
  processes[0].state = ProcessState::kRunning;
  processes[0].started_ms_ago = started_ms_ago;
  s.At(0, 1).runtime.state = RuntimeState::kServing;
  return s;
}

TEST(Ended, AProcessThatBeganAfterTheFirstExitIsOfTheNextJob) {
  EXPECT_EQ(Diagnose(StartedAgain(400)), "NO_HANG/ENDED");
  EXPECT_EQ(Diagnose(StartedAgain(std::nullopt)),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0 0.2 0.3 1.0 1.1 1.2 1.3");
}

TEST(Ended, TheExitsMayHaveBeenSeenLate) {
  EXPECT_EQ(Diagnose(StartedAgain(500 + kAgeErrorMs)), "NO_HANG/ENDED");
  EXPECT_NE(Diagnose(StartedAgain(500 + kAgeErrorMs + 1)), "NO_HANG/ENDED");
  EXPECT_NE(Diagnose(StartedAgain(kHourMs)), "NO_HANG/ENDED");
}

TEST(Ended, OneAsOldAsThoseThatEndedIsOfTheirJob) {
  Scenario s = StartedAgain(4'000);
  const auto began = [&s](std::optional<int64_t> ms_ago) {
    for (Snapshot& snapshot : s.capture.snapshots) {
      if (snapshot.worker == WorkerId{0, 1}) continue;
      for (Process& process : snapshot.processes) process.started_ms_ago = ms_ago;
    }
  };
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  began(4'000 + kAgeErrorMs);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
  began(std::nullopt);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, TheNextProcessBesideTheOneThatEndedSaysNothingAgainstIt) {
  Scenario s = StartedAgain(400);
  Process ended = s.At(0, 0).processes[0];
  ended.state = ProcessState::kExited;
  s.At(0, 1).processes.push_back(ended);
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  s.At(0, 1).processes[0].started_ms_ago = kHourMs;
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, AHelperThatEndedLongBeforeMakesNobodyTheNext) {
  Scenario s = StartedAgain(20'000);
  Process helper;
  helper.pid = 25'300;
  helper.state = ProcessState::kExited;
  helper.exit_code = 0;
  helper.exited_ms_ago = 25'000;
  s.At(0, 1).processes.push_back(helper);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

// In a job without chips no runtime ever answers, and no core runs a launch.
TEST(Ended, OneThatLivesWhereNoRuntimeAnswersHasNotEnded) {
  Scenario s = StartedAgain(kHourMs);
  for (Snapshot& snapshot : s.capture.snapshots) snapshot.cores.clear();
  s.At(0, 1).runtime.state = RuntimeState::kUnavailable;
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
  s.At(0, 1).processes[0].started_ms_ago = 400;
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
}

// Hosts that never came back hold up the job that was started again without them.
TEST(Ended, AJobThatHasRunForAsLongAsAHangTakesIsJudgedByItself) {
  Scenario s = EndedBy(kSigKill);
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    if (snapshot.worker.slice == 1) {
      for (Process& process : snapshot.processes) process.exited_ms_ago = 2 * kThresholdMs;
      continue;
    }
    snapshot.processes.resize(1);
    snapshot.processes[0] = Process{};
    snapshot.processes[0].state = ProcessState::kSleeping;
    snapshot.processes[0].started_ms_ago = kThresholdMs - 1;
    snapshot.runtime.state = RuntimeState::kServing;
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  for (Snapshot& snapshot : s.capture.snapshots) {
    if (snapshot.worker.slice == 0) snapshot.processes[0].started_ms_ago = kThresholdMs;
  }
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, AJobThatCrashesIsNoneThatSomebodyEnded) {
  EXPECT_NE(Diagnose(EndedBy(kSigSegv)), "NO_HANG/ENDED");
}

// All workers but one have ended well half a second ago; that one fell by itself.
Scenario FinishedBut(int64_t fell_ms_ago) {
  Scenario s = EndedBy(std::nullopt);
  for (const Snapshot& snapshot : s.capture.snapshots) {
    s.Exit(snapshot.worker.slice, snapshot.worker.task, 500, 0);
  }
  s.Exit(0, 1, fell_ms_ago, std::nullopt, kSigAbrt);
  return s;
}

TEST(Ended, OneThatFallsOverAfterTheLastStepIsNoCause) {
  EXPECT_EQ(Diagnose(FinishedBut(100)), "NO_HANG/ENDED");
  EXPECT_EQ(Diagnose(FinishedBut(500 + kAgeErrorMs)), "NO_HANG/ENDED");
}

// One worker aborts; the others stand in these frames of a program that is over.
Scenario AbortsWhileOthersStandIn(const std::vector<std::string>& frames) {
  Scenario s({.slices = 1, .tasks = 4});
  s.StandFor(400, 400);
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.stacks = {{.thread = "MainThread", .frames = frames}};
  }
  s.At(0, 2).stacks.clear();
  s.Exit(0, 2, 3'000, std::nullopt, kSigAbrt);
  return s;
}

TEST(Ended, OneThatAbortsWhileTheOthersEndIsNoCause) {
  EXPECT_EQ(Diagnose(AbortsWhileOthersStandIn({"multiprocessing/popen_fork.py:27 poll",
                                               "multiprocessing/util.py:360 _exit_function"})),
            "NO_HANG/ENDED");
}

TEST(Ended, OneForWhichTheOthersWaitInTheShutdownIsOne) {
  EXPECT_EQ(Diagnose(AbortsWhileOthersStandIn(
                {"jax/_src/distributed.py:199 shutdown", "jax/_src/distributed.py:301 clean_up"})),
            "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

// An exception ends the loops of the others, too, which lose a peer: these are at their exit soon.
TEST(Ended, OneWhomTheOthersLostInACollectiveIsOne) {
  Scenario s = AbortsWhileOthersStandIn({"multiprocessing/util.py:360 _exit_function"});
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kFollowOn,
          "RuntimeError: Gloo all-reduce failed: Connection closed by peer [10.0.0.2]", 2'900);
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(Ended, OneThatAbortsWhileAnotherTrainsIsOne) {
  Scenario s = AbortsWhileOthersStandIn({"threading.py:1590 _shutdown"});
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  s.At(0, 1).stacks = {{.thread = "MainThread", .frames = {"train.py:120 main"}}};
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(Ended, OneThatFellLongBeforeTheOthersFinishedIsACause) {
  EXPECT_EQ(Diagnose(FinishedBut(501 + kAgeErrorMs)), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Ended, NorHasAJobFinishedOfWhichFewEndedWell) {
  Scenario s = FinishedBut(100);
  for (const auto& [slice, task] : {std::pair{0, 0}, {0, 2}, {0, 3}}) {
    s.Exit(slice, task, 100, std::nullopt, kSigAbrt);
  }
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
  s.At(1, 0).processes[0].state = ProcessState::kRunning;  // and no living worker has ended
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

TEST(Ended, OneThatFailedAndTookTheOthersAlongIsACause) {
  Scenario s = EndedBy(kSigTerm);
  s.Exit(0, 1, 20'000, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Ended, OneThatWasKilledBeforeTheOthersWereAskedIsACause) {
  Scenario s = EndedBy(kSigTerm);
  s.Exit(0, 1, 20'000, std::nullopt, kSigKill);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Ended, OneThatLivesWasNotEnded) {
  Scenario s;
  s.StandFor(400, 400);
  s.Exit(0, 1, 500, std::nullopt, kSigTerm);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(Ended, AJobThatHungBeforeItWasEndedStillHung) {
  Scenario s = EndedBy(kSigTerm);
  s.Log(0, 1, LogKind::kHangDetected, "Megascale hang detected", 3000);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

}  // namespace
}  // namespace rapideye::classifier::testing

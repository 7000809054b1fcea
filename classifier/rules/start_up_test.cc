#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "classifier/verdict/thresholds.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int64_t kGraceMs = 1'800'000;

// A job without chips, of which task 3 never came and all others wait for it.
Scenario OfThree(const std::string& trigger, int64_t starting_ms) {
  Scenario s({.slices = 1, .tasks = 4, .chips = 1});
  s.ForgetCohorts();
  s.capture.header.trigger = trigger;
  s.capture.header.starting_ms = starting_ms;
  s.capture.header.startup_grace_ms = kGraceMs;
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).cores.clear();
    s.At(0, task).runtime.state = RuntimeState::kUnavailable;
    s.At(0, task).processes = {Process{.pid = 7, .state = ProcessState::kSleeping}};
    s.At(0, task).stacks = {
        Stack{.thread = "MainThread",
              .frames = {"initialize (jax/_src/distributed.py:141)", "<module> (train.py:20)"}}};
  }
  s.Remove(0, 3);
  for (ExpectedWorker& worker : s.capture.header.expected_workers) {
    if (worker.id == WorkerId{0, 3}) worker.host.clear();
  }
  return s;
}

bool Says(const Verdict& verdict, const std::string& text) {
  return std::any_of(verdict.evidence.begin(), verdict.evidence.end(), [&](const auto& item) {
    return item.statement.find(text) != std::string::npos;
  });
}

TEST(StartUp, WithinTheGraceItStartsAndSaysWhoHasNotCome) {
  const Verdict verdict = Classify(OfThree("operator", 60'000).capture);
  EXPECT_EQ(Summary(verdict), "NO_HANG/STARTING");
  EXPECT_TRUE(Says(verdict, "1 worker has not come: slice 0 task 3"));
  EXPECT_TRUE(Says(verdict, "3 workers wait for the job to be complete: slice 0 task 0 ("));
}

TEST(StartUp, WhoseProcessDoesNotRunIsSaidToo) {
  Scenario s = OfThree("operator", 60'000);
  s.At(0, 1).processes.clear();
  s.At(0, 1).stacks.clear();
  EXPECT_TRUE(Says(Classify(s.capture), "1 worker has an agent, and no training process"));
}

TEST(StartUp, AfterTheGraceWhoHasNotComeIsNamed) {
  const Verdict verdict = Classify(OfThree("no-progress", kGraceMs).capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
  EXPECT_TRUE(Says(verdict, "slice 0 task 3 never came"));
  EXPECT_FALSE(verdict.removal.eligible);
  EXPECT_TRUE(verdict.alternatives.empty());
}

TEST(StartUp, OfSeveralWhoseAgentsCameOnceNobodyIsAccused) {
  Scenario s = OfThree("no-progress", kGraceMs);
  for (ExpectedWorker& worker : s.capture.header.expected_workers) worker.host = "h";
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
  s.Remove(0, 2);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/NOT_STARTED");
  EXPECT_TRUE(Says(verdict, "slice 0 task 2"));
  EXPECT_TRUE(Says(verdict, "slice 0 task 3"));
}

TEST(StartUp, AnAgentWithoutAProcessIsNamedBesideOneThatNeverCame) {
  Scenario s = OfThree("no-progress", kGraceMs);
  s.At(0, 1).processes.clear();
  s.At(0, 1).stacks.clear();
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.1 0.3");
}

// The workers that waited end before the grace period does; their ends are echoes.
TEST(StartUp, ATimeOutOfTheOthersNamesWhoHasNotCome) {
  for (const char* trigger : {"hang-line", "operator"}) {
    Scenario s = OfThree(trigger, 305'000);
    for (int task = 0; task < 3; ++task) {
      s.At(0, task).stacks.clear();
      s.Log(0, task, LogKind::kUncaughtException,
            "jaxlib._jax.XlaRuntimeError: DEADLINE_EXCEEDED: Deadline Exceeded", 400);
      s.Log(0, task, LogKind::kCoordinationTimeout,
            "while calling /tensorflow.CoordinationService/RegisterTask:", 400);
      s.Exit(0, task, 200, 1);
    }
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3") << trigger;
    EXPECT_TRUE(verdict.alternatives.empty());
    EXPECT_TRUE(Says(verdict, "ended by a time-out"));
  }
}

// An import from a file system that hangs, say: its process is there, and does not come.
TEST(StartUp, ATimeOutOfTheOthersNamesWhoseProgramStandsBeforeIt) {
  const auto scenario = [](const char* function) {
    Scenario s = OfThree("exit", 305'000);
    Snapshot late = s.At(0, 0);
    late.worker.task = 3;
    late.stacks = {Stack{.thread = "MainThread",
                         .frames = {absl::StrCat(function, " (tokens.py:7)"), "main (train.py:9)",
                                    "<module> (train.py:20)"}}};
    s.capture.snapshots.push_back(late);
    for (ExpectedWorker& worker : s.capture.header.expected_workers) worker.host = "h";
    // They are about to end; one of them has ended.
    for (int task = 0; task < 3; ++task) {
      s.Log(0, task, LogKind::kFollowOn,
            "Terminating process because the JAX distributed service detected fatal errors", 400);
      s.Log(0, task, LogKind::kCoordinationTimeout, "CoordinationService/RegisterTask", 400);
    }
    s.Exit(0, 1, 100, std::nullopt, 6);
    return s;
  };
  const Verdict reads = Classify(scenario("read_vocabulary").capture);
  EXPECT_EQ(Summary(reads), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.3");
  EXPECT_EQ(reads.culprits.front().host_activity, HostActivity::kStorageRead);
  EXPECT_TRUE(Says(reads, "stands in read_vocabulary (tokens.py:7)"));
  EXPECT_EQ(Diagnose(scenario("wait_for_quota")), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.3");
  // A stack that was not read leaves open who it was.
  Scenario untold = scenario("wait_for_quota");
  untold.At(0, 0).stacks.clear();
  untold.At(0, 0).log_events.clear();
  EXPECT_EQ(Diagnose(untold), "UNKNOWN");
}

TEST(StartUp, ItsOwnCrashExplainsMoreThanAWorkerThatHasNotCome) {
  Scenario s = OfThree("hang-line", 305'000);
  s.Log(0, 0, LogKind::kUncaughtException,
        "jaxlib._jax.XlaRuntimeError: DEADLINE_EXCEEDED: Deadline Exceeded", 400);
  s.Log(0, 1, LogKind::kUncaughtException, "ModuleNotFoundError: No module named 'optax'", 304'000);
  s.Exit(0, 1, 303'000, 1);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
}

TEST(StartUp, NeverAgainstAnExitAStopOrALostWorker) {
  Scenario exited = OfThree("operator", 60'000);
  exited.Exit(0, 1, 5'000, 1);
  EXPECT_EQ(Diagnose(exited), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  Scenario stopped = OfThree("operator", 60'000);
  stopped.At(0, 1).processes[0].state = ProcessState::kStopped;
  EXPECT_EQ(Diagnose(stopped), "UNRECOVERABLE_ERROR/PROCESS_STOPPED 0.1");
  Scenario lost = OfThree("operator", 60'000);
  for (ExpectedWorker& worker : lost.capture.header.expected_workers) worker.host = "h";
  EXPECT_NE(Diagnose(lost), "NO_HANG/STARTING");
}

// A job of which it is not known whether it advances, and an agent that was never installed.
TEST(StartUp, WhereNobodyIsSeenToWaitNobodyIsAccused) {
  Scenario s = OfThree("no-progress", kGraceMs);
  for (int task = 0; task < 3; ++task) {
    s.At(0, task).stacks = {
        Stack{.thread = "MainThread",
              .frames = {"__float__ (jax/_src/array.py:1)", "<module> (train.py:20)"}}};
  }
  EXPECT_EQ(Summary(Classify(s.capture)), "NO_HANG/STARTING");
  for (int task = 0; task < 3; ++task) s.At(0, task).stacks.clear();
  EXPECT_EQ(Summary(Classify(s.capture)), "NO_HANG/STARTING");
}

TEST(StartUp, WhatHasMadeStepsDoesNotStart) {
  Scenario s = OfThree("no-progress", kGraceMs);
  s.At(0, 0).progress = Progress{.step = 40, .step_ms = 400'000, .longest_step_ms = 1'000};
  EXPECT_NE(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
  Scenario completed = OfThree("operator", 60'000);
  completed.capture.header.starting_ms.reset();
  completed.At(0, 0).progress = Progress{.step = 40};
  EXPECT_NE(Diagnose(completed), "NO_HANG/STARTING");
}

// A coordinator that came late knows of no step that was made before.
TEST(StartUp, AProcessOlderThanTheCoordinatorMayHaveMadeSteps) {
  Scenario s = OfThree("operator", 60'000);
  for (int task = 0; task < 3; ++task) {
    s.At(0, task).processes[0].started_ms_ago = 60'000 + kOldNewsMs + 1;
  }
  EXPECT_NE(Diagnose(s), "NO_HANG/STARTING");
}

TEST(StartUp, CapturesThatTellNoTimesAreJudgedByWhatTheyShow) {
  Scenario s = OfThree("no-progress", 0);
  s.capture.header.starting_ms.reset();
  s.capture.header.startup_grace_ms.reset();
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
  s.capture.header.trigger = "operator";
  EXPECT_EQ(Diagnose(s), "NO_HANG/STARTING");
}

// Task 2's agent reports an obstacle; its process lives and tries again and again.
Scenario KeptBy(Obstacle obstacle, const std::string& trigger = "no-progress") {
  Scenario s = OfThree(trigger, kGraceMs);
  // All workers have come.
  s.At(0, 2).processes[0].started_ms_ago = kGraceMs;
  StartUp start_up;
  start_up.process_ms = kGraceMs;
  start_up.obstacles = {std::move(obstacle)};
  s.At(0, 2).start_up = start_up;
  s.At(0, 2).stacks.clear();
  return s;
}

Obstacle Held(int64_t age_ms) {
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kDeviceHeld;
  obstacle.subject = "vfio/0";
  obstacle.holder = Process{.pid = 1877, .command = "python3"};
  obstacle.holder->user = "alice";
  obstacle.holder->started_ms_ago = age_ms;
  return obstacle;
}

Obstacle Simple(ObstacleKind kind, const std::string& subject) {
  Obstacle obstacle;
  obstacle.kind = kind;
  obstacle.subject = subject;
  return obstacle;
}

TEST(StartUp, WhoseChipsALeftoverHoldsIsTheCulprit) {
  const Verdict verdict = Classify(KeptBy(Held(7'200'000)).capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
  EXPECT_TRUE(Says(verdict, "vfio/0 is held by python3 (1877) of user alice, which has run for"));
  EXPECT_FALSE(verdict.removal.eligible);
}

// Each worker of a host has chips of its own.
TEST(StartUp, AnotherWorkerOfTheHostIsNoLeftover) {
  Scenario s = KeptBy(Held(kGraceMs + 70'000));
  s.capture.header.starting_ms = kGraceMs + 120'000;
  EXPECT_EQ(Summary(Classify(s.capture)), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
  s.At(0, 1).host = s.At(0, 2).host;
  s.At(0, 1).processes[0].started_ms_ago = kGraceMs + 70'000;
  for (ExpectedWorker& worker : s.capture.header.expected_workers) {
    if (worker.id == WorkerId{0, 1}) worker.host = s.At(0, 2).host;
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
}

TEST(StartUp, EachObstacleIsTheReason) {
  EXPECT_EQ(Diagnose(KeptBy(Simple(ObstacleKind::kDeviceNotPermitted, "vfio/0"))),
            "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
  EXPECT_EQ(Diagnose(KeptBy(Simple(ObstacleKind::kNoDriver, "0000:05:00.0"))),
            "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
  EXPECT_EQ(Diagnose(KeptBy(Simple(ObstacleKind::kPortTaken, "8471"))),
            "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
}

TEST(StartUp, WhatKeepsNobodyIsNoReason) {
  // The holder is younger than the training process, which has started it.
  EXPECT_EQ(Diagnose(KeptBy(Held(1'000))), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
  Scenario opened = KeptBy(Held(7'200'000));
  opened.At(0, 2).start_up->device_ms = 1'000;
  EXPECT_EQ(Diagnose(opened), "UNRECOVERABLE_ERROR/NOT_STARTED 0.3");
}

// Where no training process is known, the holder may be that process.
TEST(StartUp, AHolderWithoutAKnownProcessIsALeftoverIfItIsOlderThanTheJob) {
  for (const bool older : {true, false}) {
    Scenario s = KeptBy(Held(older ? 7'200'000 : kGraceMs));
    s.At(0, 2).processes.clear();
    s.At(0, 2).start_up->process_ms.reset();
    s.At(0, 0).processes[0].started_ms_ago = kGraceMs;
    s.At(0, 1).processes[0].started_ms_ago = kGraceMs;
    EXPECT_EQ(Diagnose(s), older ? "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2"
                                 : "UNRECOVERABLE_ERROR/NOT_STARTED 0.2 0.3");
  }
}

TEST(StartUp, AnEndBeforeTheFirstLaunchHasTheReasonThatItsHostKnows) {
  Scenario s = KeptBy(Held(7'200'000), "exit");
  s.Exit(0, 2, 5'000, 1);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.2");
  EXPECT_TRUE(Says(verdict, "exited with status 1; vfio/0 is held by python3 (1877)"));
}

TEST(StartUp, WithinTheGraceTheReasonIsSaid) {
  Scenario s = KeptBy(Held(7'200'000), "operator");
  s.capture.header.starting_ms = 60'000;
  s.At(0, 2).processes[0].started_ms_ago = 60'000;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NO_HANG/STARTING");
  EXPECT_TRUE(Says(verdict, "vfio/0 is held by python3 (1877)"));
  EXPECT_TRUE(Says(verdict, "1 worker with a training process: slice 0 task 2"));
}

// All workers have come and wait; a setting of task 3 differs.
Scenario With(const std::string& name, const std::string& usual, const std::string& odd,
              SettingKind kind = SettingKind::kEnvironment, bool hashed = false) {
  Scenario s = OfThree("no-progress", kGraceMs);
  Snapshot last = s.At(0, 2);
  last.worker = {0, 3};
  s.capture.snapshots.push_back(last);
  for (int task = 0; task < 4; ++task) {
    Setting read;
    read.kind = SettingKind::kEnvironment;
    read.name = "TPU_TYPE";
    read.value = "v5e";
    Setting setting;
    setting.kind = kind;
    setting.name = name;
    const std::string& value = task == 3 ? odd : usual;
    (hashed ? setting.hash : setting.value) = value;
    s.At(0, task).settings = {read};
    if (!value.empty()) s.At(0, task).settings.push_back(setting);
  }
  return s;
}

TEST(StartUp, WhoWasStartedOtherwiseThanMostIsNamed) {
  const Verdict verdict = Classify(With("TPU_TOPOLOGY", "4x4", "2x4").capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/CONFIGURATION 0.3");
  EXPECT_TRUE(Says(verdict, "TPU_TOPOLOGY is 4x4 on most workers, and 2x4 on slice 0 task 3"));
  EXPECT_EQ(Diagnose(With("jaxlib", "0.4.35", "0.4.34", SettingKind::kVersion)),
            "UNRECOVERABLE_ERROR/CONFIGURATION 0.3");
  EXPECT_EQ(Diagnose(With("LIBTPU_INIT_ARGS:--xla_x", "true", "", SettingKind::kFlag)),
            "UNRECOVERABLE_ERROR/CONFIGURATION 0.3");
}

TEST(StartUp, ASecretThatDiffersIsNotTold) {
  const Verdict verdict = Classify(
      With("JAX_X", "0a0b0c0d", "0a0b0c0e", SettingKind::kEnvironment, /*hashed=*/true).capture);
  EXPECT_EQ(Summary(verdict), "UNRECOVERABLE_ERROR/CONFIGURATION 0.3");
  EXPECT_FALSE(Says(verdict, "0a0b0c0e"));
}

TEST(StartUp, WhatIsMeantToDifferIsNoDifference) {
  for (const char* name : {"TPU_WORKER_ID", "JAX_PROCESS_ID", "MEGASCALE_SLICE_ID",
                           "TPU_STDERR_LOG_LEVEL", "JAX_COMPILATION_CACHE_DIR"}) {
    EXPECT_EQ(Diagnose(With(name, "1", "2")), "UNKNOWN") << name;
  }
  // A worker's own address may differ.
  Scenario s = With("TPU_SOMETHING", "x", "y");
  s.At(0, 3).settings.back().value = s.At(0, 3).host + ":1";
  for (int task = 0; task < 3; ++task) {
    s.At(0, task).settings.back().value = s.At(0, task).host + ":1";
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(StartUp, NoMajorityNobodyOdd) {
  Scenario s = With("TPU_TOPOLOGY", "4x4", "2x4");
  s.At(0, 2).settings.back().value = "2x4";
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(StartUp, OnceTheJobHasLaunchedSettingsAccuseNobody) {
  Scenario s({.slices = 1, .tasks = 4, .chips = 1});
  for (int task = 0; task < 4; ++task) {
    Setting setting;
    setting.kind = SettingKind::kEnvironment;
    setting.name = "TPU_TOPOLOGY";
    setting.value = task == 3 ? "2x4" : "4x4";
    s.At(0, task).settings = {setting};
  }
  EXPECT_NE(Classify(s.capture).detail, Detail::kConfiguration);
}

}  // namespace
}  // namespace rapideye::classifier::testing

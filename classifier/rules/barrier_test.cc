#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int32_t kSignalOfAbort = 6;

// A job of workers without chips that report, none of which stands out.
Scenario Job(int tasks = 4, int slices = 1) {
  Scenario s({.slices = slices, .tasks = tasks, .chips = 1});
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
  }
  return s;
}

std::string Report(const std::string& id, int came, int first, const std::string& absent) {
  return absl::StrCat(
      "Barrier timed out. Id: ", id, ". # of tasks that reached the barrier: ", came,
      "/4. The first task at the barrier: ", first, ". Some timed out task names: ", absent);
}

Scenario After(const std::string& report) {
  Scenario s = Job();
  s.Log(0, 0, LogKind::kCoordinationTimeout, report, 1000);
  return s;
}

void AtStep(Scenario& s, int task, int64_t step) {
  s.At(0, task).progress = Progress{.step = step, .phase = Phase::kStep, .phase_ms = 300'000};
}

TEST(Barrier, TheFewWhoDidNotComeAreAwaited) {
  EXPECT_EQ(Diagnose(After(Report("orbax::save::0", 3, 0, "2"))),
            "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  // A worker that came alone may be the one that the others wait for elsewhere.
  EXPECT_EQ(Diagnose(After(Report("orbax::save::0", 1, 2, "0, 1, 3"))), "UNKNOWN");
  // The service names some of the missing workers only: here they are half of the job.
  EXPECT_EQ(Diagnose(After(Report("orbax::save::0", 2, 0, "2"))), "UNKNOWN");
}

TEST(Barrier, OfTheFewWhoDidNotComeThoseThatTheServiceNamesAreAwaited) {
  Scenario s = Job(8, 2);
  s.Log(0, 0, LogKind::kCoordinationTimeout,
        "Barrier timed out. Id: save::0. # of tasks that reached the barrier: 12/16. The first "
        "task at the barrier: 3. Some timed out task names: 9, 14",
        1000);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 1.1 1.6");
  EXPECT_THAT(Classify(s.capture).culprits.front().why,
              ::testing::HasSubstr("12 of 16 came; the service names 2 of the others"));
}

TEST(Barrier, OneWhoNeverReportedIsLost) {
  Scenario s = After(Report("orbax::save::0", 3, 0, "2"));
  s.Remove(0, 2);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
  s = After(Report("[Init]Wait_for_all_tasks_to_register::0", 3, 0, "2"));
  s.Remove(0, 2);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/NOT_STARTED 0.2");
}

TEST(Barrier, OlderReportsNameEverybodyAndNoCount) {
  EXPECT_EQ(Diagnose(After("Barrier timed out. Id: save0. Timed out task names: 2")),
            "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Diagnose(After("Barrier timed out. Id: save0. Timed out task names: 1, 2, 3")),
            "UNKNOWN");
  EXPECT_EQ(Diagnose(After("Barrier timed out. Id: save0. Timed out task names: 9")), "UNKNOWN");
}

TEST(Barrier, ItsReportMustBeOfThisJob) {
  Scenario s = Job();
  s.Log(0, 0, LogKind::kCoordinationTimeout,
        "Barrier timed out. Id: x::0. # of tasks that reached the barrier: 7/8. The first task at "
        "the barrier: 0. Some timed out task names: 2",
        1000);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  EXPECT_EQ(Diagnose(After(Report("x::0", 3, 0, "9"))), "UNKNOWN");
  EXPECT_EQ(Diagnose(After(Report("x::0", 4, 0, "2"))), "UNKNOWN");  // all have come
  EXPECT_EQ(Diagnose(After("Barrier timed out. Id: x::0")), "UNKNOWN");
}

TEST(Barrier, OfTheShutdownItIsTheOneWhoLeftBeforeTheOthers) {
  Scenario s = After(Report("Shutdown::146::0", 1, 2, "1, 3"));
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");  // no worker finishes alone
  for (int task = 0; task < 4; ++task) AtStep(s, task, 12);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  AtStep(s, 2, 13);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// The service ends all processes at once: a collection may find the first one dead, and the others
// alive.
TEST(Barrier, TheFirstProcessThatItsFailureEndsIsNotTheCause) {
  Scenario s = After(Report("Shutdown::146::0", 1, 2, "1, 3"));
  s.Log(0, 0, LogKind::kFollowOn,
        "Terminating process because the JAX distributed service detected fatal errors. "
        "absl::Status: INTERNAL: Shutdown barrier has failed.",
        1000);
  s.Exit(0, 0, 60, std::nullopt, kSignalOfAbort);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

// A barrier that timed out long before proves nothing of a standstill now, and ends nobody now.
TEST(Barrier, WhatTheJobSurvivedIsNoCause) {
  constexpr int64_t kLongAgo = 3'600'000;
  const auto after = [](int64_t report_ms) {
    Scenario s = Job();
    s.Log(0, 0, LogKind::kCoordinationTimeout, Report("orbax::save::0", 3, 0, "2"), report_ms);
    for (int task = 0; task < 4; ++task) AtStep(s, task, 12);
    return s;
  };
  EXPECT_EQ(Diagnose(after(1000)), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_NE(Diagnose(after(kLongAgo)), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");

  // Of two that failed, the earlier is as old.
  Scenario s = Job();
  s.Log(0, 0, LogKind::kCoordinationTimeout, Report("orbax::save::0", 3, 0, "2"), kLongAgo);
  s.Log(0, 0, LogKind::kCoordinationTimeout, Report("orbax::save::9", 3, 0, "3"), 1000);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.3");

  // Nor was it the end of a process that names a peer, without a step that anybody knows.
  const auto end = [](int64_t report_ms) {
    Scenario job = After(Report("Shutdown::146::0", 1, 2, "1, 3"));
    job.capture.snapshots.front().log_events.front().age_ms = report_ms;
    job.Log(0, 3, LogKind::kFollowOn, "Connection reset by peer", 1000);
    job.Exit(0, 3, 500, 1);
    return job;
  };
  EXPECT_EQ(Diagnose(end(kLongAgo)), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.3");
  EXPECT_EQ(Diagnose(end(2000)), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(Heartbeats, TheFirstProcessThatEndsForThoseOfAnotherIsNotTheCause) {
  const auto after = [](int task) {
    Scenario s = Job();
    s.Log(0, 0, LogKind::kFollowOn,
          "Terminating process because the JAX distributed service detected fatal errors.", 1000);
    s.Log(0, 0, LogKind::kMissedHealthChecks,
          absl::StrCat("The following tasks are unhealthy (stopped sending heartbeats): ", task),
          1000);
    s.Exit(0, 0, 60, std::nullopt, kSignalOfAbort);
    return s;
  };
  EXPECT_EQ(Diagnose(after(3)), "UNKNOWN");
  EXPECT_EQ(Diagnose(after(0)), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
}

TEST(Barrier, OfTheShutdownOfTwoInOneStepItIsNobody) {
  Scenario s = Job(2);
  s.Log(0, 0, LogKind::kCoordinationTimeout,
        "Barrier timed out. Id: Shutdown::146::0. # of tasks that reached the barrier: 1/2. The "
        "first task at the barrier: 0. Some timed out task names: 1",
        1000);
  for (int task = 0; task < 2; ++task) AtStep(s, task, 12);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  AtStep(s, 1, 13);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
}

TEST(Barrier, OfTheShutdownItIsTheOneWhoDidNotComeIfTheOthersAreDone) {
  EXPECT_EQ(Diagnose(After(Report("Shutdown::146::0", 3, 0, "2"))),
            "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST(Barrier, WhoRaisedCameBecauseOfIt) {
  Scenario s = After(Report("Shutdown::146::0", 1, 2, "1, 3"));
  s.Log(0, 2, LogKind::kUncaughtException, "ValueError: loss is not finite", 303'000);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  // A worker that comes to the barrier may only have learnt of the exception.
  Scenario echo = After(Report("orbax::save::0", 3, 0, "3"));
  echo.Log(0, 2, LogKind::kUncaughtException, "ValueError: loss is not finite", 303'000);
  EXPECT_EQ(Diagnose(echo), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(LostWorker, ThePeerThatClosedItsConnectionsIsTheOneOfWhomNothingIsHeard) {
  Scenario s = Job();
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.processes = {{.pid = 7, .state = ProcessState::kSleeping}};
  }
  s.Log(0, 1, LogKind::kFollowOn, "Gloo all-reduce failed: Connection closed by peer", 12'000);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // no worker is missing
  s.Remove(0, 2);
  s.At(0, 0).probes = {{.peer = {0, 2}, .ok = true}};
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  s.At(0, 3).processes[0].state = ProcessState::kZombie;  // its process may have closed them
  s.At(0, 3).processes[0].exit_code = 0;
  EXPECT_NE(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(LostWorker, WhomAllOthersFollowedIsTheOneOfWhomNothingIsHeard) {
  Scenario s = Job();
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.processes = {
        {.pid = 7, .state = ProcessState::kExited, .signal = 6, .exited_ms_ago = 4'000}};
    s.Log(snapshot.worker.slice, snapshot.worker.task, LogKind::kFollowOn,
          "Failed to retrieve preemption notice from coordination service: Socket closed", 4'500);
  }
  s.Remove(0, 0);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.0");
  Scenario two = s;
  two.Remove(0, 1);  // any of them may have been the first
  EXPECT_EQ(Diagnose(two), "UNKNOWN");
  s.At(0, 3).log_events.clear();  // nothing says that it followed
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.Log(0, 3, LogKind::kFollowOn, "free(): invalid pointer", 4'500);  // how it fell itself
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Heartbeats, WhoeverSendsNoneAndNoSnapshotIsLost) {
  Scenario s = Job();
  s.Log(0, 0, LogKind::kMissedHealthChecks,
        "The following tasks are unhealthy (stopped sending heartbeats): 2, 17", 1000);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // it is there
  Scenario other = Job();
  other.Log(0, 0, LogKind::kMissedHealthChecks,
            "INTERNAL: Barrier failed because: task is set to ERROR: UNAVAILABLE: Task 2 heartbeat "
            "timeout. This indicates that the remote task has failed",
            1000);
  other.Remove(0, 2);
  EXPECT_EQ(Diagnose(other), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
  // The host answers probes: only the agent and the process are gone.
  other.At(0, 0).probes = {{.peer = {0, 2}, .ok = true}};
  EXPECT_EQ(Diagnose(other), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
  s.Remove(0, 2);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
}

TEST(Heartbeats, AreMissedUnderTheFullNameOfATaskToo) {
  Scenario s = Job();
  s.Log(0, 0, LogKind::kMissedHealthChecks,
        "UNAVAILABLE: Task /job:jax_worker/replica:0/task:2 heartbeat timeout. This indicates",
        1000);
  s.Remove(0, 2);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
  // A name alone, of a list whose beginning is lost, accuses nobody.
  Scenario other = Job();
  other.Log(0, 0, LogKind::kMissedHealthChecks, "/job:jax_worker/replica:0/task:2", 1000);
  other.At(0, 0).log_events.back().peer_tasks = {2};
  other.Remove(0, 2);
  EXPECT_EQ(Diagnose(other), "UNKNOWN");
}

TEST(Heartbeats, WhoeverCameBackAsAnotherIncarnationHadEnded) {
  Scenario s = Job();
  s.Log(0, 0, LogKind::kRestartedPeer,
        "ABORTED: 2 unexpectedly tried to connect with a different incarnation", 1000);
  s.At(0, 0).log_events.back().peer_tasks = {2, 99};
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // it is there
  s.Remove(0, 2);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
}

}  // namespace
}  // namespace rapideye::classifier::testing

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/classify.h"
#include "classifier/verdict/thresholds.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int kSigAbrt = 6;
constexpr int kSigTerm = 15;
constexpr int kSigTrap = 5;

constexpr char kGetKeyValue[] =
    "jax.errors.JaxRuntimeError: DEADLINE_EXCEEDED: GetKeyValue() timed out with key: a";
constexpr char kUnhealthy[] = "The following tasks are unhealthy (stopped sending heartbeats): 2";
constexpr char kUnanswered[] =
    "F0101 00:00:00.000000 client.h:80] Terminating process because the JAX distributed service "
    "detected fatal errors. absl::Status: DEADLINE_EXCEEDED: Deadline Exceeded";
constexpr char kServiceGone[] =
    "Failed to send RPC to coordination service. Either the leader task was preempted";

// A job of four of which no core is known.
Scenario Hosts() {
  Scenario s{Shape{.slices = 1, .tasks = 4}};
  for (Snapshot& snapshot : s.capture.snapshots) {
    snapshot.cores.clear();
    snapshot.runtime.state = RuntimeState::kUnavailable;
  }
  s.capture.header.trigger = "exit";
  return s;
}

void Stand(Scenario& s, int task, std::vector<std::string> frames) {
  s.At(0, task).stacks = {{.thread = "MainThread", .frames = std::move(frames)}};
}

TEST(TimedOutWait, WhoeverIsBusyIsWhatTheOthersWaitedFor) {
  Scenario s = Hosts();
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kCoordinationTimeout, kGetKeyValue, 5'000);
    s.Exit(0, task, 4'500, 1);
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // the activity of the other is not known
  Stand(s, 2, {"jax/_src/compiler.py:361 backend_compile_and_load", "train.py:9 main"});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  Stand(s, 2, {"jax/_src/array.py:648 _value", "train.py:9 main"});
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // it waits, too
}

TEST(TimedOutWait, ACompilationIsNoPauseOnceOthersHaveEnded) {
  Scenario s = Hosts();
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kCoordinationTimeout, kGetKeyValue, 5'000);
    s.Exit(0, task, 4'500, 1);
  }
  s.At(0, 2).progress = Progress{.step = 0, .phase = Phase::kCompile, .phase_ms = 327'000};
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST(TimedOutWait, WhatFailedOutrightExplainsIt) {
  Scenario s = Hosts();
  for (int task : {0, 1}) {
    s.Log(0, task, LogKind::kCoordinationTimeout, kGetKeyValue, 5'000);
    s.Exit(0, task, 4'500, 1);
  }
  s.Exit(0, 3, 300'000, std::nullopt, 11);
  Stand(s, 2, {"jax/_src/compiler.py:361 backend_compile_and_load", "train.py:9 main"});
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.3");
}

TEST(DeclaredDead, WhoLivedToHearItIsNobodysFault) {
  Scenario s = Hosts();
  for (int task = 0; task < 4; ++task) {
    s.Log(0, task, LogKind::kMissedHealthChecks, kUnhealthy, 5'000);
    s.Exit(0, task, 4'000, std::nullopt, kSigAbrt);
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
}

// Its own log does not mention the declaration: the chips, or the page, show that it was at work.
TEST(DeclaredDead, WhoseDeviceAdvancedThenIsNobodysFault) {
  Scenario s = Hosts();
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kMissedHealthChecks, kUnhealthy, 60'000);
    s.Exit(0, task, 59'000, std::nullopt, kSigAbrt);
  }
  Progress& page = s.At(0, 2).progress.emplace();
  page.phase = Phase::kStep;
  page.phase_ms = 62'000;
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
  page.phase_ms = 160'000;  // it had stood for as long as its heartbeats were missing
  EXPECT_NE(Diagnose(s), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
  page.phase = Phase::kCheckpoint;
  page.phase_ms = 62'000;
  EXPECT_NE(Diagnose(s), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
}

// It is cut off from the service alone: neither hears of the other.
TEST(DeclaredDead, WhoEndedAsTheServiceDidNotAnswerIsNobodysFault) {
  Scenario s = Hosts();
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kMissedHealthChecks, kUnhealthy, 5'000);
    s.Exit(0, task, 4'000, std::nullopt, kSigAbrt);
  }
  Scenario before = s;
  s.Log(0, 2, LogKind::kFollowOn, kUnanswered, 4'500);
  s.Exit(0, 2, 4'400, std::nullopt, kSigAbrt);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
  // It had ended long before the service missed it.
  before.Log(0, 2, LogKind::kFollowOn, kUnanswered, 104'500);
  before.Exit(0, 2, 104'400, std::nullopt, kSigAbrt);
  EXPECT_NE(Diagnose(before), "UNRECOVERABLE_ERROR/COORDINATION_SERVICE");
}

TEST(DeclaredDead, WhoNeverHeardItOrDiedByItselfIs) {
  Scenario s = Hosts();
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kMissedHealthChecks, kUnhealthy, 5'000);
    s.Exit(0, task, 4'000, std::nullopt, kSigAbrt);
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");  // it may be cut off, or stand
  s.Exit(0, 2, 100'000, std::nullopt, 9);
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.2");
}

TEST(ToldToEnd, WhoeverHadLostItsPeersBeforeIsNotPreempted) {
  Scenario s = Hosts();
  s.Log(0, 2, LogKind::kPreempted, "SIGTERM caught", 12'000);
  s.Exit(0, 2, 11'000, std::nullopt, kSigTerm);
  for (int task : {0, 1, 3}) {
    s.Log(0, task, LogKind::kFollowOn, kServiceGone, 9'000);
    s.Log(0, task, LogKind::kPreempted, "SIGTERM caught", 8'000);
    s.Exit(0, task, 7'500, std::nullopt, kSigTerm);
  }
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PREEMPTED 0.2");
}

TEST(AfterTheLastStep, WhoAbortsWhenTheLeaderIsDoneIsNoCulprit) {
  Scenario s = Hosts();
  s.Exit(0, 0, 9'000, 0);
  for (int task : {1, 2, 3}) {
    s.Log(0, task, LogKind::kFollowOn, kServiceGone, 8'900);
    s.Exit(0, task, 8'500, 128 + (task == 1 ? kSigTrap : kSigAbrt));
  }
  EXPECT_EQ(Diagnose(s), "NO_HANG/ENDED");
  // A complaint about a peer comes from the midst of the work.
  Scenario midst = s;
  midst.Log(0, 1, LogKind::kFollowOn, "Connection closed by peer", 8'900);
  EXPECT_NE(Diagnose(midst), "NO_HANG/ENDED");
  // The leader came to the shutdown alone.
  s.Log(0, 0, LogKind::kFollowOn, "Shutdown barrier has failed", 9'500);
  EXPECT_NE(Diagnose(s), "NO_HANG/ENDED");
}

TEST(LongPause, NothingExcusesWhatTakesLongerThanAnyPause) {
  Scenario s{Shape{.slices = 1, .tasks = 4}};
  s.capture.header.trigger = "hang-line";
  for (int task = 0; task < 4; ++task) {
    s.MakeIdle(0, task);
    Stand(s, task,
          {"jax/experimental/array_serialization/serialization.py:431 wait_until_finished",
           "levanter/checkpoint.py:384 save_checkpoint", "train.py:9 main"});
  }
  s.StandFor(kLongestPauseMs / 2, kLongestPauseMs / 2);
  EXPECT_EQ(Diagnose(s), "NO_HANG/PAUSED");
  s.StandFor(kLongestPauseMs, kLongestPauseMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.0 0.1 0.2 0.3");
}

TEST(RefusedByTheRuntime, SaysWhichTeamActs) {
  const auto verdict = [](const std::string& text) {
    Scenario s = Hosts();
    s.Log(0, 1, LogKind::kUncaughtException, text, 5'000);
    s.Exit(0, 1, 4'500, 1);
    return Diagnose(s);
  };
  EXPECT_EQ(verdict("RuntimeError: TPU initialization failed: Invalid "
                    "--2a886c8_slice_builder_worker_addresses specified."),
            "UNRECOVERABLE_ERROR/CONFIGURATION 0.1");
  for (const char* text :
       {"RuntimeError: TPU initialization failed: open(/dev/accel3): Operation not permitted",
        "RuntimeError: Unable to initialize backend 'tpu': INTERNAL: Failed to get global TPU "
        "topology."}) {
    EXPECT_EQ(verdict(text), "UNRECOVERABLE_ERROR/DEVICE_UNAVAILABLE 0.1") << text;
  }
  for (const char* text :
       {"ValueError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate "
        "8.00M. That was not possible.",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to reserve 10.51G at the bottom of "
        "memory."}) {
    EXPECT_EQ(verdict(text), "UNRECOVERABLE_ERROR/OUT_OF_MEMORY 0.1") << text;
  }
}

}  // namespace
}  // namespace rapideye::classifier::testing

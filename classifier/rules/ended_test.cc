#include <gtest/gtest.h>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int kSigKill = 9;
constexpr int kSigTerm = 15;
constexpr int kSigSegv = 11;

// All processes of a job that worked until then, by this signal.
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
  // Where a runtime listens, nobody has ended it.
  s.At(0, 1).runtime.state = RuntimeState::kServing;
  EXPECT_NE(Diagnose(s), "NO_HANG");
}

TEST(Ended, AJobThatCrashesIsNoneThatSomebodyEnded) {
  EXPECT_NE(Diagnose(EndedBy(kSigSegv)), "NO_HANG");
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
  EXPECT_NE(Diagnose(s), "NO_HANG");
}

}  // namespace
}  // namespace rapideye::classifier::testing

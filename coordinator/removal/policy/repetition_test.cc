#include "coordinator/removal/policy/repetition.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rapideye::coordinator {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'000);
const absl::Time kSince = kNow - absl::Hours(24 * 30);

HangEvent At(const std::string& incident, int64_t task, const std::string& machine = "m") {
  HangEvent event;
  event.incident = incident;
  event.machine = machine;
  event.grounds = Grounds::kRepetition;
  event.cause = "BAD_TPU_CHIP";
  event.detail = "TENSOR_CORE";
  event.job = "llama";
  event.task = task;
  event.fingerprint = "ab";
  event.at = kNow;
  return event;
}

HangEvent Ici(const std::string& incident, int64_t task, const std::string& machine = "m") {
  HangEvent event = At(incident, task, machine);
  event.cause = "NETWORKING_ISSUE";
  event.detail = "ICI_LINK";
  return event;
}

Repetition Count(const std::vector<HangEvent>& events) {
  return CountRepetition("m", events, kSince, kNow);
}

TEST(RepetitionTest, AnIncidentCountsOnceHoweverManyCulpritsItNames) {
  EXPECT_EQ(Count({At("i1", 1), At("i1", 2), At("i1", 3)}).counted.size(), 1u);
  EXPECT_EQ(Count({At("i1", 1), At("i2", 2), At("i3", 3)}).counted.size(), 3u);
}

TEST(RepetitionTest, SoftwareDoesNotCount) {
  HangEvent software = At("i2", 2);
  software.grounds = Grounds::kNever;
  EXPECT_EQ(Count({At("i1", 1), software}).counted.size(), 1u);
}

TEST(RepetitionTest, DirectEvidenceCounts) {
  HangEvent direct = At("i2", 2);
  direct.grounds = Grounds::kDirect;
  EXPECT_EQ(Count({At("i1", 1), direct}).counted.size(), 2u);
}

TEST(RepetitionTest, TheWindowBegins) {
  HangEvent old = At("i1", 1);
  old.at = kSince - absl::Milliseconds(1);
  HangEvent just_in = At("i2", 2);
  just_in.at = kSince;
  EXPECT_EQ(Count({old, just_in}).counted.size(), 1u);
}

TEST(RepetitionTest, WhatHasYetToHappenDoesNotCountAndExonerates) {
  HangEvent late = At("i1", 1);
  late.at = kNow + absl::Milliseconds(1);
  EXPECT_EQ(Count({late, At("i2", 2)}).counted, std::set<std::string>{"i2"});
  HangEvent elsewhere = At("i3", 2, "other");
  elsewhere.at = late.at;
  EXPECT_EQ(Count({elsewhere, At("i2", 2)}).exonerated, 1u);
}

TEST(RepetitionTest, TheSameCoordinateInRelatedProgramsIsNotIndependent) {
  HangEvent recompiled = At("i2", 1);
  recompiled.fingerprint = "cd";
  EXPECT_FALSE(Count({At("i1", 1), At("i2", 1)}).independent);
  EXPECT_FALSE(Count({At("i1", 1), recompiled}).independent);
  EXPECT_TRUE(Count({At("i1", 1), At("i2", 2)}).independent);
}

TEST(RepetitionTest, AnUnrelatedProgramIsAnotherJobAndAnotherCompilation) {
  HangEvent other_job = At("i2", 1);
  other_job.job = "gemma";
  EXPECT_FALSE(Count({At("i1", 1), other_job}).independent);
  HangEvent unknown = other_job;
  unknown.fingerprint.reset();
  EXPECT_FALSE(Count({At("i1", 1), unknown}).independent);
  HangEvent unrelated = other_job;
  unrelated.fingerprint = "cd";
  EXPECT_TRUE(Count({At("i1", 1), unrelated}).independent);
}

TEST(RepetitionTest, TwoWorkersOfAMachineThatDidNotMoveAreNotIndependent) {
  HangEvent first = At("i1", 6), second = At("i2", 7);
  for (HangEvent* event : {&first, &second}) {
    event->home_slice = 0;
    event->home_task = 4;
  }
  EXPECT_EQ(Count({first, second}).counted.size(), 2u);
  EXPECT_FALSE(Count({first, second}).independent);
  second.home_task = 5;
  EXPECT_TRUE(Count({first, second}).independent);
  second.home_task = 4;
  second.home_slice = 1;
  EXPECT_TRUE(Count({first, second}).independent);
}

TEST(RepetitionTest, TwoCoordinatesInOneIncidentAreNotIndependent) {
  EXPECT_FALSE(Count({At("i1", 1), At("i1", 2)}).independent);
}

TEST(RepetitionTest, ACoordinateThatFailsOnOtherHardwareExonerates) {
  const Repetition result = Count({At("i1", 1), At("i2", 2), At("i3", 1, "other")});
  EXPECT_EQ(result.counted.size(), 1u);
  EXPECT_EQ(result.exonerated, 1u);
  EXPECT_FALSE(result.independent);
}

TEST(RepetitionTest, AnotherProgramOrAFaultOfSoftwareThereDoesNotExonerate) {
  HangEvent other_program = At("i3", 1, "other");
  other_program.job = "gemma";
  other_program.fingerprint = "cd";
  HangEvent unknown = other_program;
  unknown.fingerprint.reset();
  HangEvent software = At("i4", 2, "other");
  software.grounds = Grounds::kNever;
  EXPECT_EQ(Count({At("i1", 1), At("i2", 2), other_program, unknown, software}).counted.size(), 2u);
}

// Slurm gives a job another name with every submission.
TEST(RepetitionTest, TheSameProgramInAnotherJobExonerates) {
  HangEvent again = At("i3", 1, "other");
  again.job = "llama-2";
  const Repetition result = Count({At("i1", 1), At("i2", 2), again});
  EXPECT_EQ(result.exonerated, 1u);
  EXPECT_EQ(result.counted, std::set<std::string>{"i2"});
}

// A row of a history that another program wrote.
TEST(RepetitionTest, GroundsBeyondTheCauseDoNotCount) {
  HangEvent event = At("i2", 2);
  event.grounds = Grounds::kDirect;
  event.cause = "DATA_INPUT_STALL";
  EXPECT_EQ(Count({At("i1", 1), event}).counted.size(), 1u);
}

TEST(RepetitionTest, AnIciLinkWithTheSameOtherEndEveryTimeNamesNobody) {
  const Repetition same = Count({Ici("i1", 1), Ici("i1", 5, "n"), Ici("i2", 2), Ici("i2", 6, "n")});
  EXPECT_EQ(same.counted.size(), 0u);
  EXPECT_EQ(same.two_ended, 2u);
  const Repetition three = Count({Ici("i1", 1), Ici("i1", 5, "n"), Ici("i2", 2), Ici("i2", 6, "o"),
                                  Ici("i3", 3), Ici("i3", 7, "p")});
  EXPECT_EQ(three.counted.size(), 3u);
  EXPECT_TRUE(three.independent);
}

// The bad end may be n, with o a chance partner.
TEST(RepetitionTest, AnIciLinkWithAnotherOtherEndOnlyOnceNamesNobodyYet) {
  std::vector<HangEvent> events = {Ici("i1", 1),      Ici("i1", 5, "n"), Ici("i2", 2),
                                   Ici("i2", 6, "n"), Ici("i3", 3),      Ici("i3", 7, "n"),
                                   Ici("i4", 4),      Ici("i4", 8, "o")};
  EXPECT_EQ(Count(events).two_ended, 4u);
  events.push_back(Ici("i5", 9));
  events.push_back(Ici("i5", 10, "p"));
  EXPECT_EQ(Count(events).counted.size(), 5u);
}

// Only one end reported the fault, every time.
TEST(RepetitionTest, AnIciFaultWithoutAnotherEndCounts) {
  EXPECT_EQ(Count({Ici("i1", 1)}).counted.size(), 1u);
}

TEST(RepetitionTest, ASingleIciEventNamesNobodyAndABadChipBesideItStillCounts) {
  EXPECT_EQ(Count({Ici("i1", 1), Ici("i1", 5, "n"), At("i2", 2)}).counted.size(), 1u);
}

}  // namespace
}  // namespace rapideye::coordinator

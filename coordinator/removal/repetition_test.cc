#include "coordinator/removal/repetition.h"

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
  return CountRepetition("m", events, kSince);
}

TEST(RepetitionTest, AnIncidentCountsOnceHoweverManyCulpritsItNames) {
  EXPECT_EQ(Count({At("i1", 1), At("i1", 2), At("i1", 3)}).counted, 1u);
  EXPECT_EQ(Count({At("i1", 1), At("i2", 2), At("i3", 3)}).counted, 3u);
}

TEST(RepetitionTest, SoftwareDoesNotCount) {
  HangEvent software = At("i2", 2);
  software.grounds = Grounds::kNever;
  EXPECT_EQ(Count({At("i1", 1), software}).counted, 1u);
}

TEST(RepetitionTest, DirectEvidenceCounts) {
  HangEvent direct = At("i2", 2);
  direct.grounds = Grounds::kDirect;
  EXPECT_EQ(Count({At("i1", 1), direct}).counted, 2u);
}

TEST(RepetitionTest, TheWindowBegins) {
  HangEvent old = At("i1", 1);
  old.at = kSince - absl::Milliseconds(1);
  HangEvent just_in = At("i2", 2);
  just_in.at = kSince;
  EXPECT_EQ(Count({old, just_in}).counted, 1u);
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

TEST(RepetitionTest, TwoCoordinatesInOneIncidentAreNotIndependent) {
  EXPECT_FALSE(Count({At("i1", 1), At("i1", 2)}).independent);
}

TEST(RepetitionTest, ACoordinateThatFailsOnOtherHardwareExonerates) {
  const Repetition result = Count({At("i1", 1), At("i2", 2), At("i3", 1, "other")});
  EXPECT_EQ(result.counted, 1u);
  EXPECT_EQ(result.exonerated, 1u);
  EXPECT_FALSE(result.independent);
}

TEST(RepetitionTest, AnotherJobOrAFaultOfSoftwareThereDoesNotExonerate) {
  HangEvent other_job = At("i3", 1, "other");
  other_job.job = "gemma";
  HangEvent software = At("i4", 2, "other");
  software.grounds = Grounds::kNever;
  EXPECT_EQ(Count({At("i1", 1), At("i2", 2), other_job, software}).counted, 2u);
}

TEST(RepetitionTest, AnIciLinkWithTheSameOtherEndEveryTimeNamesNobody) {
  const Repetition same = Count({Ici("i1", 1), Ici("i1", 5, "n"), Ici("i2", 2), Ici("i2", 6, "n")});
  EXPECT_EQ(same.counted, 0u);
  EXPECT_EQ(same.two_ended, 2u);
  const Repetition other =
      Count({Ici("i1", 1), Ici("i1", 5, "n"), Ici("i2", 2), Ici("i2", 6, "o")});
  EXPECT_EQ(other.counted, 2u);
  EXPECT_TRUE(other.independent);
}

TEST(RepetitionTest, ASingleIciEventNamesNobodyAndABadChipBesideItStillCounts) {
  EXPECT_EQ(Count({Ici("i1", 1), Ici("i1", 5, "n"), At("i2", 2)}).counted, 1u);
}

}  // namespace
}  // namespace rapideye::coordinator

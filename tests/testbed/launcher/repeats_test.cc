#include "tests/testbed/launcher/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rapideye::testbed {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class CheckRepeatsTest : public testing::Test {
 protected:
  CheckRepeatsTest() { options_.experiment.job.shape = {2, 2, 1, *FindGeneration("v6e")}; }

  std::string Complaint(const char* fault = "bad-chip") const {
    return CheckRepeats(options_, *FindScenario(fault)).ToString();
  }

  RepeatOptions options_;
};

TEST_F(CheckRepeatsTest, TakesWhatASingleMachineHas) {
  EXPECT_EQ(Complaint("bad-chip"), "OK");
  EXPECT_EQ(Complaint("worker-lost"), "OK");
  EXPECT_EQ(Complaint("input-dry"), "OK");
  EXPECT_THAT(Complaint("none"), HasSubstr("--fault=none"));
  EXPECT_THAT(Complaint("link-cut"), HasSubstr("--fault=link-cut"));
  EXPECT_THAT(Complaint("bad-chip-pcie"), HasSubstr("--fault=bad-chip-pcie"));
}

TEST_F(CheckRepeatsTest, AWorkerThatIsAloneCannotMove) {
  options_.experiment.job.shape.slices = 1;
  options_.experiment.job.shape.tasks = 1;
  EXPECT_THAT(Complaint(), HasSubstr("--same-place"));
  options_.same_place = true;
  EXPECT_EQ(Complaint(), "OK");
}

TEST_F(CheckRepeatsTest, TheHistoryBeginsWithTheFirstAttempt) {
  options_.experiment.job.state_dir = testing::TempDir() + "rapideye-repeats-test";
  std::filesystem::create_directories(options_.experiment.job.state_dir);
  EXPECT_EQ(Complaint(), "OK");
  std::ofstream(options_.experiment.job.state_dir + "/fleet.db") << "x";
  EXPECT_THAT(Complaint(), HasSubstr("/fleet.db remembers"));
  std::filesystem::remove_all(options_.experiment.job.state_dir);
}

TEST_F(CheckRepeatsTest, AFaultThatHealsIsAnotherDemonstration) {
  options_.experiment.heal_after = absl::Seconds(5);
  EXPECT_THAT(Complaint(), HasSubstr("--heal-after"));
}

// The expected actions of five attempts, from the first on.
std::string Expected(const Truth& truth, bool same_place) {
  std::string actions;
  for (int attempt = 0; attempt < 5; ++attempt) {
    actions += ExpectedAction(truth, attempt, same_place) + " ";
  }
  return actions;
}

TEST(ExpectedAction, HardwareGoesTheFourthTimeUnlessItMayBeTheProgram) {
  const Truth bad_chip = {"BAD_TPU_CHIP", "TENSOR_CORE", {{{0, 1}, "h", 2}}};
  EXPECT_EQ(Expected(bad_chip, /*same_place=*/false), "watch watch watch remove refuse ");
  EXPECT_EQ(Expected(bad_chip, /*same_place=*/true), "watch watch watch watch watch ");
}

TEST(ExpectedAction, SoftwareIsOnlyEverWatched) {
  const Truth stall = {"DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", {{{0, 1}, "h", std::nullopt}}};
  EXPECT_EQ(Expected(stall, /*same_place=*/false), "watch watch watch watch watch ");
}

TEST(Report, TellsWhatWasDecidedAndWhatShouldBe) {
  Repeated repeated;
  repeated.attempts.resize(2);
  for (Attempt& attempt : repeated.attempts) {
    attempt.culprit.host = "h";
    attempt.expected = "watch";
  }
  repeated.attempts[0].removals.decisions = {{"other", "m", "remove", "repetition", "r"},
                                             {"h", "n", "watch", "repetition", "r"}};
  repeated.history = "its history\n";
  EXPECT_EQ(Report(repeated),
            "\nrapideye fleet history:\nits history\n"
            "\nexpected:   watch, watch\ndecided:    watch, nothing\nRIGHT\n");
  repeated.differences = {"attempt 2: nothing was decided about h"};
  EXPECT_THAT(Report(repeated), EndsWith("WRONG:      attempt 2: nothing was decided about h\n"));
}

}  // namespace
}  // namespace rapideye::testbed

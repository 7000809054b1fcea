#include "agent/sources/process/fetch_candidates.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rapideye::agent {
namespace {

Candidate One(int64_t pid, int64_t parent, const std::string& command, int64_t threads,
              int64_t cpu_ticks) {
  Candidate one;
  one.stat.id = {pid, 1};
  one.stat.parent = parent;
  one.stat.command = command;
  one.stat.cpu_ticks = cpu_ticks;
  one.threads = threads;
  return one;
}

int64_t Chosen(const std::vector<Candidate>& candidates) {
  const std::optional<ProcessStat> stat = ChooseTraining(candidates);
  return stat.has_value() ? stat->id.pid : 0;
}

TEST(ChooseTrainingTest, ShellsAndLoadersAreNotIt) {
  EXPECT_EQ(Chosen({One(10, 1, "bash", 1, 3), One(11, 10, "python", 60, 500),
                    One(12, 11, "python", 3, 900), One(13, 11, "python", 3, 10)}),
            11);
}

TEST(ChooseTrainingTest, APythonProgramThatOnlyLaunchesIsNotIt) {
  EXPECT_EQ(Chosen({One(10, 1, "python", 3, 300), One(11, 10, "python", 60, 5000),
                    One(12, 11, "python", 3, 900)}),
            11);
}

TEST(ChooseTrainingTest, OfALauncherWithoutThreadsThatRanNothingIsKnown) {
  // Its threads could not be read: then any process would have far more.
  EXPECT_EQ(Chosen({One(10, 1, "python", 0, 300), One(11, 10, "python", 3, 5000)}), 10);
}

TEST(ChooseTrainingTest, WhoeverHasTheChipsIsIt) {
  std::vector<Candidate> candidates = {One(10, 1, "python", 60, 9000), One(11, 10, "python", 3, 5)};
  EXPECT_EQ(Chosen(candidates), 10);
  candidates[1].has_chips = true;
  EXPECT_EQ(Chosen(candidates), 11);
}

TEST(ChooseTrainingTest, AScriptIsALauncherWhateverItsPreparationCost) {
  EXPECT_TRUE(IsLauncher("bash"));
  EXPECT_TRUE(IsLauncher("train.sh"));  // the kernel shows the file's name
  EXPECT_FALSE(IsLauncher("python3"));
  EXPECT_EQ(Chosen({One(10, 1, "train.sh", 1, 900), One(11, 10, "python", 2, 500)}), 11);
}

TEST(ChooseTrainingTest, AScriptThatTrainsByItselfIsIt) {
  EXPECT_EQ(Chosen({One(10, 1, "bash", 1, 3)}), 10);
  EXPECT_EQ(Chosen({}), 0);
}

}  // namespace
}  // namespace rapideye::agent

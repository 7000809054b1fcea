#include "classifier/host_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "classifier/classify.h"
#include "classifier/phrases.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using Frames = std::vector<std::string>;

// As py-spy shows them in a job of jax 0.10, innermost first.
const Frames kInCollective = {"_value (jax/_src/array.py:648)", "__float__ (jax/_src/array.py:312)",
                              "main (train.py:120)"};
const Frames kAtBarrier = {"_value (jax/_src/array.py:648)",
                           "process_allgather (jax/experimental/multihost_utils.py:155)",
                           "main (train.py:97)"};
const Frames kInShutdown = {"shutdown (jax/_src/distributed.py:199)",
                            "clean_up (jax/_src/distributed.py:301)"};
const Frames kInLoader = {"wait (threading.py:327)", "get (queue.py:171)",
                          "__next__ (grain/_src/python/dataset/transformations/prefetch.py:512)",
                          "main (train.py:90)"};
const Frames kInLock = {"wait (threading.py:327)", "take (train.py:31)", "main (train.py:88)"};
const Frames kInSave = {"open (epath/backend.py:60)", "save (orbax/checkpoint/manager.py:900)",
                        "main (train.py:131)"};
const Frames kCompiles = {"backend_compile_and_load (jax/_src/compiler.py:361)",
                          "main (train.py:120)"};

// A job of one slice without any core known, after an alarm for lack of progress.
class HostPlaceTest : public ::testing::Test {
 protected:
  HostPlaceTest() {
    for (int task = 0; task < 4; ++task) {
      s_.At(0, task).cores.clear();
      s_.At(0, task).runtime.state = RuntimeState::kUnavailable;
      Stand(task, kInCollective);
    }
    s_.capture.header.trigger = "no-progress";
  }

  void Stand(int task, const Frames& frames) {
    s_.At(0, task).stacks = {{.thread = "MainThread", .frames = frames}};
  }
  void Page(int task, Phase phase, int64_t step) {
    s_.At(0, task).stacks.clear();
    s_.At(0, task).progress = Progress{.step = step, .phase = phase, .phase_ms = kStillMs};
  }
  // The activity of the only culprit, or of all if they are alike.
  std::string Activity() const {
    const Verdict verdict = Classify(s_.capture);
    if (verdict.culprits.empty() || !verdict.culprits.front().host_activity) return "";
    return std::string(HostActivityName(*verdict.culprits.front().host_activity));
  }

  Scenario s_{Shape{.slices = 1, .tasks = 4}};
};

TEST_F(HostPlaceTest, AllInOneCollectiveSingleNobodyOut) { EXPECT_EQ(Diagnose(s_), "UNKNOWN"); }

TEST_F(HostPlaceTest, TheOneThatWaitsForInputWhileTheOthersWaitForIt) {
  Stand(2, kInLoader);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
  EXPECT_EQ(Activity(), "INPUT");
}

TEST_F(HostPlaceTest, ALockASaveACompilation) {
  Stand(2, kInLock);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "LOCK");
  Stand(2, kInSave);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
  Stand(2, kCompiles);
  EXPECT_EQ(Activity(), "COMPILATION");
}

TEST_F(HostPlaceTest, WhoLeftABarrierOutStandsInAnotherWait) {
  for (int task : {0, 1, 3}) Stand(task, kAtBarrier);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "BARRIER");
}

TEST_F(HostPlaceTest, WhoWaitsInTheShutdownAloneHasLeftTheLoop) {
  Stand(1, kInShutdown);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  EXPECT_EQ(Activity(), "SHUTDOWN");
}

TEST_F(HostPlaceTest, AllInOneSaveAreAllNamed) {
  for (int task = 0; task < 4; ++task) Stand(task, kInSave);
  EXPECT_EQ(Classify(s_.capture).culprits.size(), 4U);
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
}

TEST_F(HostPlaceTest, PagesTellWhereNoStackDoes) {
  for (int task : {0, 1, 3}) Page(task, Phase::kStep, 41);
  Page(2, Phase::kInput, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
  Page(2, Phase::kStep, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  Page(2, Phase::kStep, 41);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Page(2, Phase::kStep, 42);  // nobody waits for one that is ahead
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, OfTwoThatWaitForDifferentThingsNeitherIsTheMajority) {
  for (int task : {2, 3}) Stand(task, kAtBarrier);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, AJobThatWasOnlyLookedAtAccusesNobody) {
  Stand(2, kInLoader);
  s_.capture.header.trigger = "operator";
  EXPECT_THAT(Diagnose(s_), ::testing::Not(::testing::HasSubstr("0.2")));
}

TEST_F(HostPlaceTest, WhereCoresAreKnownTheyTell) {
  Scenario healthy;
  healthy.At(0, 2).stacks = {{.thread = "MainThread", .frames = kInLoader}};
  const std::string with = Diagnose(healthy);
  healthy.At(0, 2).stacks.clear();
  EXPECT_EQ(with, Diagnose(healthy));
}

TEST(PlaceOfHost, AbsentWithoutStacksAndPage) { EXPECT_FALSE(PlaceOfHost(Snapshot{}).has_value()); }

}  // namespace
}  // namespace rapideye::classifier::testing

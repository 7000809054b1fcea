#include "classifier/host/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rapideye::classifier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(LoopStacksTest, TheMainThreadSpeaksForTheLoop) {
  Snapshot snapshot;
  snapshot.stacks = {{"loader", {"queue.py:180 get"}}, {"saver", {"orbax"}}};
  EXPECT_THAT(LoopStacks(snapshot), SizeIs(2));  // no thread is known to be the main one
  snapshot.stacks.push_back({"main (python3)", {"poll"}});
  snapshot.stacks.push_back({"MainThread", {"train.py:1 step"}});
  EXPECT_THAT(LoopStacks(snapshot), ElementsAre(&snapshot.stacks[3], &snapshot.stacks[2]));
}

TEST(LoopStacksTest, AChildNeverDoes) {
  Snapshot snapshot;
  snapshot.stacks = {{"child 40 (python3): MainThread", {"put (queue.py:1)"}}};
  EXPECT_THAT(LoopStacks(snapshot), IsEmpty());
  snapshot.stacks.push_back({"loader", {"get (queue.py:180)"}});
  EXPECT_THAT(LoopStacks(snapshot), ElementsAre(&snapshot.stacks[1]));
}

TEST(InputFrameTest, ALoaderIsWaitedForUnlessTheDeviceIs) {
  EXPECT_EQ(InputFrame({"MainThread",
                        {"threading.py:320 wait", "queue.py:180 get",
                         "grain/_src/python/data_loader.py:421 __next__", "train.py:340 main"}}),
            "grain/_src/python/data_loader.py:421 __next__");
  EXPECT_EQ(InputFrame({"MainThread", {"queue.py:180 get", "batches.py:7 __next__"}}),
            "batches.py:7 __next__");
  EXPECT_EQ(InputFrame({"MainThread",
                        {"tensorflow::data::IteratorGetNext (lib.so)", "train.py:340 main"}}),
            "tensorflow::data::IteratorGetNext (lib.so)");
  // The loop is named after its data set, and waits for the step's result.
  EXPECT_THAT(
      InputFrame({"MainThread",
                  {"jax/_src/array.py:640 block_until_ready", "train.py:88 train_on_dataset"}}),
      IsEmpty());
  EXPECT_THAT(InputFrame({"MainThread", {"writer.py:88 flush", "train.py:340 main"}}), IsEmpty());
}

// A loop bears the name of its data, and stands in something else that it called.
TEST(InputFrameTest, ALoopOverDataIsNoLoader) {
  for (const std::vector<std::string>& frames : {
           std::vector<std::string>{"threading.py:320 wait", "metrics.py:8 record",
                                    "loop.py:30 train_on_dataset", "loop.py:99 main"},
           {"metrics.py:8 record", "train_dataset.py:30 step", "train_dataset.py:99 main"},
           {"metrics.py:8 record", "/home/me/dataset-7/loop.py:30 step", "cli.py:9 main"},
       }) {
    EXPECT_THAT(InputFrame({"MainThread", frames}), IsEmpty()) << frames[1];
  }
  for (const std::vector<std::string>& frames : {
           std::vector<std::string>{"queue.py:180 get", "loop.py:30 read_dataset",
                                    "loop.py:9 main"},
           {"queue.py:180 get", "my_dataset.py:30 take", "loop.py:99 main"},
           {"queue.py:180 get", "loop.py:30 get_batch", "loop.py:40 train", "loop.py:99 main"},
           {"codec.py:3 decode", "loop.py:30 __next__", "loop.py:99 main"},
           {"grain/_src/core/tree.py:3 take", "loop.py:99 main"},
       }) {
    EXPECT_THAT(InputFrame({"MainThread", frames}), Not(IsEmpty())) << frames[1];
  }
}

// A thread that takes from a queue waits for the one that fills it.
TEST(InputFrameTest, AFunctionThatTakesBatchesFromAQueueWaitsForInput) {
  EXPECT_EQ(InputFrame({"MainThread",
                        {"threading.py:320 wait", "queue.py:171 get",
                         "loop.py:164 next_streamed_batch", "loop.py:99 main"}}),
            "loop.py:164 next_streamed_batch");
  for (const std::vector<std::string>& frames : {
           std::vector<std::string>{"threading.py:320 wait", "queue.py:171 get",
                                    "loop.py:30 next_command", "loop.py:99 main"},
           {"threading.py:320 wait", "loop.py:164 next_streamed_batch", "loop.py:99 main"},
           {"threading.py:320 wait", "queue.py:171 get", "loop.py:30 flush_metrics",
            "loop.py:40 train_batch", "loop.py:99 main"},
       }) {
    EXPECT_THAT(InputFrame({"MainThread", frames}), IsEmpty()) << frames[1];
  }
}

class HostEvidenceTest : public testing::Test {
 protected:
  HostEvidenceTest() {
    Snapshot snapshot;
    snapshot.worker = {1, 2};
    snapshot.host = "host-1-2";
    snapshot.stacks = {{"loader", {"get"}}, {"MainThread", {"a", "b", "c", "d", "e"}}};
    Process leftover;
    leftover.pid = 77;
    leftover.command = "python3";
    snapshot.chip_holders = {{leftover, {"accel1", "accel0"}}};
    capture_.snapshots = {snapshot};
    verdict_.cause = Cause::kDataInputStall;
  }

  Capture capture_;
  Verdict verdict_;
};

TEST_F(HostEvidenceTest, IsToldOfCulprits) {
  verdict_.culprits.emplace_back().worker = {1, 2};
  AddHostEvidence(capture_, verdict_);
  ASSERT_THAT(verdict_.evidence, SizeIs(2));
  EXPECT_EQ(verdict_.evidence[0].statement,
            "slice 1 task 2 (host-1-2): its thread MainThread stands in a, called by b, called by "
            "c, called by d");
  EXPECT_EQ(verdict_.evidence[1].statement,
            "slice 1 task 2 (host-1-2): process 77 (python3), which is not its training "
            "process, holds accel0, accel1");
}

TEST_F(HostEvidenceTest, IsNotToldOfVictims) {
  AddHostEvidence(capture_, verdict_);
  EXPECT_THAT(verdict_.evidence, IsEmpty());
  // Without a known culprit, a leftover process may be at fault.
  verdict_.cause = Cause::kUnknown;
  AddHostEvidence(capture_, verdict_);
  EXPECT_THAT(verdict_.evidence, SizeIs(1));
}

}  // namespace
}  // namespace rapideye::classifier

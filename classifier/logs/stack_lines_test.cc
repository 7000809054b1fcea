#include "classifier/logs/stack_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kFaultHandler[] =
    "Timeout (0:05:00)!\n"
    "Thread 0x00007fdefefc5640 (most recent call first):\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 324 in wait\n"
    "  File \"/opt/venv/lib/python3.10/site-packages/tqdm/_monitor.py\", line 60 in run\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 1016 in _bootstrap_inner\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n"
    "\n"
    "Thread 0x00007fe403b964c0 (most recent call first):\n"
    "  File \"/opt/venv/lib/python3.10/site-packages/jax/_src/array.py\", line 631 in _value\n"
    "  File \"/job/train.py\", line 88 in step\n"
    "  File \"/job/train.py\", line 120 in <module>\n";

constexpr char kPySpy[] =
    "Process 42: python train.py\n"
    "Python v3.10.12 (/usr/bin/python3.10)\n"
    "\n"
    "Thread 42 (idle): \"MainThread\"\n"
    "    pthread_cond_timedwait (libc.so.6)\n"
    "    wait (threading.py:302)\n"
    "    get (queue.py:170)\n"
    "    __next__ (fairseq/data/iterators.py:648)\n"
    "Thread 57 (idle): \"Thread-1\"\n"
    "    wait (threading.py:306)\n"
    "Thread 58 (idle)\n";

class StackLinesTest : public ::testing::Test {
 protected:
  void Take(const std::string& text) {
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      stacks_.Take(line, {.unix_ms = std::nullopt, .advances = ++line_});
    }
  }

  StackLines stacks_;
  int64_t line_ = 0;
};

TEST_F(StackLinesTest, TheOldestThreadOfFaultHandlerIsTheMainThread) {
  Take(kFaultHandler);
  const LoggedStacks dump = stacks_.Dump();
  ASSERT_THAT(dump.threads, SizeIs(2));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames,
              ElementsAre("_value (jax/_src/array.py:631)", "step (/job/train.py:88)",
                          "<module> (/job/train.py:120)"));
  EXPECT_EQ(dump.threads[1].frames[1], "run (tqdm/_monitor.py:60)");
  EXPECT_EQ(dump.threads[1].frames[0], "wait (threading.py:324)");
  EXPECT_EQ(dump.at.advances, 2) << "the time of its first thread";
}

TEST_F(StackLinesTest, PySpyNamesTheMainThread) {
  Take(kPySpy);
  const LoggedStacks dump = stacks_.Dump();
  ASSERT_THAT(dump.threads, SizeIs(2)) << "a thread without frames tells nothing";
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames,
              ElementsAre("pthread_cond_timedwait (libc.so.6)", "wait (threading.py:302)",
                          "get (queue.py:170)", "__next__ (fairseq/data/iterators.py:648)"));
}

TEST_F(StackLinesTest, TheLastDumpCounts) {
  Take(kFaultHandler);
  Take("step 10\n");
  Take(
      "Current thread 0x00007fe403b964c0 (most recent call first):\n"
      "  File \"/job/train.py\", line 92 in load\n"
      "step 11\n");
  const LoggedStacks dump = stacks_.Dump();
  ASSERT_THAT(dump.threads, SizeIs(1));
  EXPECT_THAT(dump.threads[0].frames, ElementsAre("load (/job/train.py:92)"));
  EXPECT_EQ(dump.at.advances, 12);
}

TEST_F(StackLinesTest, ADumpThatIsCutBeforeItsMainThreadTellsNothing) {
  Take(
      "Thread 0x00007fdefefc5640 (most recent call first):\n"
      "  File \"/usr/lib/python3.10/threading.py\", line 324 in wait\n"
      "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n");
  EXPECT_THAT(stacks_.Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, ProcessesBesideTheTrainingProcessAreLeftOut) {
  Take(kPySpy);
  Take(
      "Process 99: python train.py\n"
      "Thread 99 (idle): \"MainThread\"\n"
      "    poll (selectors.py:415)\n"
      "    _worker_loop (torch/utils/data/_utils/worker.py:275)\n");
  EXPECT_THAT(stacks_.Dump().threads, SizeIs(2)) << "a worker of its loader";
}

TEST_F(StackLinesTest, DumpsOfSeveralTrainingProcessesTellOfNone) {
  Take(kPySpy);
  Take(
      "Process 43: python train.py\n"
      "Thread 43 (active): \"MainThread\"\n"
      "    step (train.py:88)\n");
  EXPECT_THAT(stacks_.Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, AThreadThatAnExceptionEndedHasItsFrames) {
  Take(
      "Exception in thread Thread-12:\n"
      "Traceback (most recent call last):\n"
      "  File \"/usr/lib/python3.7/threading.py\", line 870, in run\n"
      "    self._target(*self._args, **self._kwargs)\n"
      "  File \"/x/dist-packages/torch_xla/distributed/parallel_loader.py\", line 166, in _worker\n"
      "    batch = xm.send_cpu_data_to_device(batch, device)\n"
      "RuntimeError: bad batch\n"
      "  File \"/job/other.py\", line 1, in f\n");
  const Stack dead = stacks_.DeadThread();
  EXPECT_EQ(dead.thread, "Exception in thread Thread-12:");
  EXPECT_THAT(dead.frames, ElementsAre("_worker (torch_xla/distributed/parallel_loader.py:166)",
                                       "run (threading.py:870)"));
  EXPECT_THAT(stacks_.Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, WordsOfAProgramAreNoStack) {
  EXPECT_FALSE(stacks_.Take("Process 0: loaded shard 3 (shards.py:12)", {}));
  EXPECT_FALSE(stacks_.Take("Thread 12 finished", {}));
  EXPECT_FALSE(stacks_.Take("called by (most recent call first):", {}));
  EXPECT_THAT(stacks_.Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, AFloodOfThreadsAndFramesIsBounded) {
  for (size_t i = 0; i < 2 * kMaxLoggedThreads; ++i) {
    Take("Thread 7 (idle): \"MainThread\"\n");
    for (size_t frame = 0; frame < 2 * kMaxLoggedFrames; ++frame) {
      Take(absl::StrCat("    f", std::string(2 * kMaxLoggedFrameBytes, 'x'), " (a.py:1)\n"));
    }
  }
  const LoggedStacks dump = stacks_.Dump();
  ASSERT_THAT(dump.threads, SizeIs(kMaxLoggedThreads));
  EXPECT_THAT(dump.threads[0].frames, SizeIs(kMaxLoggedFrames));
  EXPECT_THAT(dump.threads[0].frames[0], SizeIs(kMaxLoggedFrameBytes));
}

TEST_F(StackLinesTest, OfManyThreadsTheMainThreadIsKept) {
  for (size_t i = 0; i < 2 * kMaxLoggedThreads; ++i) {
    Take(
        "Thread 0x00007fdefefc5640 (most recent call first):\n"
        "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n");
  }
  Take(
      "Thread 0x00007fe403b964c0 (most recent call first):\n"
      "  File \"/job/train.py\", line 92 in load\n");
  const LoggedStacks dump = stacks_.Dump();
  ASSERT_THAT(dump.threads, SizeIs(kMaxLoggedThreads));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames, ElementsAre("load (/job/train.py:92)"));
}

}  // namespace
}  // namespace rapideye::logs
